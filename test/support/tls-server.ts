import { connect } from "node:tls";
import type { KeyPair } from "./certificates.ts";
import { freePort } from "./free-port.ts";
import { type ServerOptions, startServer, type ZooKeeperServer } from "./zookeeper-server.ts";

export interface TlsServerOptions extends ServerOptions {
  readonly certificate: KeyPair;
  /** Path of the PEM file with the authority that client certificates must come from. */
  readonly clientCa: string;
  /** `need` refuses clients without a certificate; without it none is asked for. */
  readonly clientAuth?: "none" | "want" | "need";
}

export interface TlsServer {
  readonly server: ZooKeeperServer;
  readonly securePort: number;
  /** `127.0.0.1:port` of the TLS port; `server.address` is the plain one. */
  readonly secureAddress: string;
  stop(): Promise<void>;
}

/** Starts a real server with a TLS port beside its plain one. The caller stops it. */
export async function startTlsServer(options: TlsServerOptions): Promise<TlsServer> {
  const { certificate, clientCa, clientAuth = "none", config, ...serverOptions } = options;
  const securePort = await freePort();
  const server = await startServer({
    ...serverOptions,
    config: {
      secureClientPort: String(securePort),
      secureClientPortAddress: "127.0.0.1",
      // The default connection factory cannot do TLS.
      serverCnxnFactory: "org.apache.zookeeper.server.NettyServerCnxnFactory",
      "ssl.keyStore.location": certificate.bundle,
      "ssl.keyStore.type": "PEM",
      "ssl.trustStore.location": clientCa,
      "ssl.trustStore.type": "PEM",
      "ssl.clientAuth": clientAuth,
      ...config,
    },
  });
  await firstHandshake(securePort);
  return {
    server,
    securePort,
    secureAddress: `127.0.0.1:${securePort}`,
    stop: () => server.stop(),
  };
}

/** The first handshake of a Java process can take seconds, which no test means to measure. */
function firstHandshake(port: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false });
    const end = () => {
      socket.destroy();
      resolve();
    };
    // A server that wants a certificate ends it with an error.
    socket.setTimeout(30_000, end);
    socket.once("secureConnect", end);
    socket.once("error", end);
  });
}
