/** A KDC of MIT Kerberos on 127.0.0.1, and Apache ZooKeeper that takes its tickets. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Ensemble, startEnsemble } from "./ensemble.ts";
import { eventually } from "./eventually.ts";
import { freePort, isListening } from "./free-port.ts";
import { ended, removeDirectory, temporaryDirectory } from "./tracked-process.ts";
import { type ServerOptions, startServer, type ZooKeeperServer } from "./zookeeper-server.ts";

const REALM = "ZKSH.TEST";
const SASL_PROVIDER = "org.apache.zookeeper.server.auth.SASLAuthenticationProvider";
const SBIN = "/usr/sbin";

export interface Kdc {
  /** KRB5_CONFIG and an empty ticket cache, for all programs that use this KDC. */
  readonly env: Readonly<Record<string, string>>;
  /** The configuration of clients; the port is another one where a KDC behind a proxy is meant. */
  clientConfig(port?: number): string;
  readonly port: number;
  /** Makes a principal with a random key; returns the name of the keytab with it. */
  principal(name: string): string;
  /** The KDC gets another key; the keytab keeps the old one. */
  changeKey(name: string): void;
  /** Tickets of the principal end after this time, such as `3 seconds`. */
  limitLife(name: string, time: string): void;
  /** Gets a ticket with the principal's keytab; returns the name of the cache. */
  ticket(name: string, lifetime?: string): string;
  start(): Promise<void>;
  /** SIGKILL: the principals stay for {@link start}. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

export async function startKdc(): Promise<Kdc> {
  const directory = temporaryDirectory("kdc");
  const file = (name: string) => join(directory, name);
  const port = await freePort();
  const clientConfig = (at = port) => {
    const config = file(`krb5-${at}.conf`);
    writeFileSync(
      config,
      [
        "[libdefaults]",
        `default_realm = ${REALM}`,
        "dns_lookup_kdc = false",
        "dns_lookup_realm = false",
        "dns_canonicalize_hostname = false",
        "rdns = false",
        // TCP only: the KDC listens on no other port.
        "udp_preference_limit = 1",
        "[realms]",
        `${REALM} = {`,
        `kdc = 127.0.0.1:${at}`,
        "}",
        "[domain_realm]",
        `localhost = ${REALM}`,
        "",
      ].join("\n"),
    );
    return config;
  };
  writeFileSync(
    file("kdc.conf"),
    [
      "[kdcdefaults]",
      'kdc_listen = ""',
      `kdc_tcp_listen = 127.0.0.1:${port}`,
      "[realms]",
      `${REALM} = {`,
      `database_name = ${file("principal")}`,
      `key_stash_file = ${file("stash")}`,
      `acl_file = ${file("kadm5.acl")}`,
      "}",
      "[logging]",
      `kdc = FILE:${file("kdc.log")}`,
      "",
    ].join("\n"),
  );
  const env = {
    KRB5_CONFIG: clientConfig(),
    KRB5CCNAME: `FILE:${file("no-tickets")}`,
    KRB5_KDC_PROFILE: file("kdc.conf"),
  };
  const run = (program: string, ...args: string[]) =>
    execFileSync(program, args, {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      encoding: "utf8",
    });
  const admin = (...words: string[]) => run(join(SBIN, "kadmin.local"), ...words);
  run(join(SBIN, "kdb5_util"), "create", "-s", "-P", "master", "-r", REALM);
  let child: ChildProcess | undefined;
  let caches = 0;
  const keytabOf = (name: string) => file(`${name.replaceAll("/", "-")}.keytab`);

  async function start(): Promise<void> {
    child = spawn(join(SBIN, "krb5kdc"), ["-n"], {
      env: { ...process.env, ...env },
      stdio: "ignore",
    });
    await eventually(async () => {
      if (!(await isListening(port))) throw new Error(`no KDC listens on port ${port}`);
    });
  }
  async function kill(): Promise<void> {
    if (child === undefined) return;
    const dead = ended(child);
    child.kill("SIGKILL");
    child = undefined;
    await dead;
  }

  await start();
  return {
    env,
    clientConfig,
    port,
    principal(name) {
      admin("addprinc", "-randkey", name);
      admin("ktadd", "-k", keytabOf(name), "-norandkey", name);
      chmodSync(keytabOf(name), 0o600);
      return keytabOf(name);
    },
    changeKey: (name) => void admin("cpw", "-randkey", name),
    limitLife: (name, time) => void admin("modprinc", "-maxlife", time, name),
    ticket(name, lifetime = "1h") {
      const cache = file(`cache-${++caches}`);
      run("kinit", "-k", "-t", keytabOf(name), "-c", cache, "-l", lifetime, name);
      return `FILE:${cache}`;
    },
    start,
    kill,
    async stop() {
      await kill();
      removeDirectory(directory);
    },
  };
}

/** A server whose principal is zookeeper/localhost unless told otherwise. */
export function startKerberosServer(
  kdc: Kdc,
  options: ServerOptions = {},
  principal = "zookeeper/localhost",
): Promise<ZooKeeperServer> {
  return startServer(kerberosOptions(kdc, options, principal));
}

/** Three servers with one principal, as one ensemble. */
export function startKerberosEnsemble(kdc: Kdc, principal: string): Promise<Ensemble> {
  return startEnsemble(3, kerberosOptions(kdc, {}, principal));
}

function kerberosOptions(kdc: Kdc, options: ServerOptions, principal: string): ServerOptions {
  const keytab = kdc.principal(principal);
  const jaas = `${keytab}.jaas`;
  writeFileSync(
    jaas,
    "Server { com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true " +
      `keyTab="${keytab}" principal="${principal}@${REALM}"; };\n`,
  );
  return {
    ...options,
    config: { "authProvider.1": SASL_PROVIDER, ...options.config },
    jvmFlags: [
      `-Djava.security.krb5.conf=${kdc.env.KRB5_CONFIG}`,
      `-Djava.security.auth.login.config=${jaas}`,
      ...(options.jvmFlags ?? []),
    ],
  };
}
