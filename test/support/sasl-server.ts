/** Apache ZooKeeper that lets users log in by SASL DIGEST-MD5. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Ensemble, startEnsemble } from "./ensemble.ts";
import { removeDirectory, temporaryDirectory } from "./tracked-process.ts";
import { type ServerOptions, startServer, type ZooKeeperServer } from "./zookeeper-server.ts";

const SASL_PROVIDER = "org.apache.zookeeper.server.auth.SASLAuthenticationProvider";

export interface SaslServerOptions extends ServerOptions {
  /** Serve nobody who has not logged in. */
  readonly isRequired?: boolean;
}

export interface SaslServer {
  readonly server: ZooKeeperServer;
  /** Holds from the next start of the server on. */
  changeUsers(users: Readonly<Record<string, string>>): void;
  stop(): Promise<void>;
}

/** Writes the JAAS file of a server. */
function writeUsers(users: Readonly<Record<string, string>>, directory: string): string {
  const jaas = join(directory, "server.jaas");
  const known = Object.entries(users).map(([name, password]) => `user_${name}="${password}"`);
  writeFileSync(
    jaas,
    `Server { org.apache.zookeeper.server.auth.DigestLoginModule required ${known.join(" ")}; };\n`,
  );
  return jaas;
}

/** The options of a server that knows the users; the JAAS file is written to `directory`. */
function saslOptions(
  users: Readonly<Record<string, string>>,
  directory: string,
  { isRequired = false, ...options }: SaslServerOptions = {},
): ServerOptions {
  const jaas = writeUsers(users, directory);
  return {
    ...options,
    config: { "authProvider.1": SASL_PROVIDER, ...options.config },
    jvmFlags: [
      `-Djava.security.auth.login.config=${jaas}`,
      ...(isRequired ? ["-Dzookeeper.sessionRequireClientSASLAuth=true"] : []),
      ...(options.jvmFlags ?? []),
    ],
  };
}

export async function startSaslServer(
  users: Readonly<Record<string, string>>,
  options: SaslServerOptions = {},
): Promise<SaslServer> {
  const directory = temporaryDirectory("jaas");
  const server = await startServer(saslOptions(users, directory, options));
  return {
    server,
    changeUsers: (changed) => void writeUsers(changed, directory),
    async stop() {
      await server.stop();
      removeDirectory(directory);
    },
  };
}

export interface SaslEnsemble {
  readonly ensemble: Ensemble;
  stop(): Promise<void>;
}

/** Three servers that know the users, as one ensemble. */
export async function startSaslEnsemble(
  users: Readonly<Record<string, string>>,
  options: SaslServerOptions = {},
): Promise<SaslEnsemble> {
  const directory = temporaryDirectory("jaas");
  const ensemble = await startEnsemble(3, saslOptions(users, directory, options));
  return {
    ensemble,
    async stop() {
      await ensemble.stop();
      removeDirectory(directory);
    },
  };
}
