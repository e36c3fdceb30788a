import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { removeDirectory, temporaryDirectory } from "./tracked-process.ts";

/** A certificate with its key; all are paths of PEM files. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
  /** Key and certificate in one file: what ZooKeeper takes for a key store. */
  readonly bundle: string;
}

export interface Certificates {
  /** Signed everything below but `otherCa`. */
  readonly ca: string;
  /** Signed nothing. */
  readonly otherCa: string;
  /** For `localhost` and 127.0.0.1. */
  readonly server: KeyPair;
  /** For the same names, but its time is over. */
  readonly expired: KeyPair;
  /** For `elsewhere.invalid` alone. */
  readonly mismatched: KeyPair;
  readonly client: KeyPair;
  remove(): void;
}

const LOCAL_NAMES = "DNS:localhost,IP:127.0.0.1";

/**
 * Makes a certification authority and what it signs, in a temporary directory. The caller removes
 * it.
 */
export function makeCertificates(): Certificates {
  const directory = temporaryDirectory("certificates");
  const ca = makeAuthority(directory, "ca");
  const issue = (name: string, altNames: string) =>
    sign(directory, name, altNames, "20200101000000Z", "20991231235959Z");
  return {
    ca,
    otherCa: makeAuthority(directory, "other-ca"),
    server: issue("server", LOCAL_NAMES),
    mismatched: issue("mismatched", "DNS:elsewhere.invalid"),
    client: issue("client", "DNS:client.invalid"),
    expired: sign(directory, "expired", LOCAL_NAMES, "20200101000000Z", "20200102000000Z"),
    remove: () => removeDirectory(directory),
  };
}

function makeAuthority(directory: string, name: string): string {
  openssl(directory, ["req", "-x509", ...newKey(name), "-out", `${name}.pem`, "-days", "3650"]);
  return join(directory, `${name}.pem`);
}

/** By `openssl ca`, the only subcommand of all versions that takes dates. */
function sign(
  directory: string,
  name: string,
  altNames: string,
  startDate: string,
  endDate: string,
): KeyPair {
  writeFileSync(
    join(directory, `${name}.cnf`),
    `[ca]
default_ca = tests
[tests]
database = ${name}.index
new_certs_dir = .
rand_serial = yes
default_md = sha256
policy = policy
x509_extensions = extensions
[policy]
commonName = supplied
[extensions]
basicConstraints = critical,CA:FALSE
subjectAltName = ${altNames}
`,
  );
  writeFileSync(join(directory, `${name}.index`), "");
  openssl(directory, ["req", ...newKey(name), "-out", `${name}.csr`]);
  openssl(directory, [
    ...[
      "ca",
      "-batch",
      "-notext",
      "-config",
      `${name}.cnf`,
      "-cert",
      "ca.pem",
      "-keyfile",
      "ca.key",
    ],
    ...["-startdate", startDate, "-enddate", endDate, "-in", `${name}.csr`, "-out", `${name}.pem`],
  ]);

  const file = (suffix: string) => join(directory, `${name}.${suffix}`);
  const pair = { cert: file("pem"), key: file("key"), bundle: file("bundle.pem") };
  writeFileSync(pair.bundle, Buffer.concat([readFileSync(pair.key), readFileSync(pair.cert)]));
  return pair;
}

function newKey(name: string): string[] {
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  return [...curve, "-keyout", `${name}.key`, "-subj", `/CN=${name}`];
}

function openssl(directory: string, args: readonly string[]): void {
  // Its chatter goes to stderr; execFileSync puts it into the error's text when the command fails.
  execFileSync("openssl", args, { cwd: directory, stdio: "pipe" });
}
