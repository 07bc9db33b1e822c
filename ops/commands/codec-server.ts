import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createPayloadCodec } from '../../adapters/temporal/payload-codec.ts';
import { createCodecServer } from '../codec-server.ts';
import { type CommandAtRest, parseFlags, UsageError } from '../command.ts';
import { OpsError } from '../context.ts';
import { codecServerPort } from '../local/temporal.ts';

const flags = { host: { type: 'string' }, port: { type: 'string' }, open: { type: 'boolean' } } as const;
const defaultHost = '127.0.0.1';
const loopbacks = new Set([defaultHost, 'localhost', '::1']);

export const codecServerCommand: CommandAtRest = {
  usage: 'codec-server [--host HOST] [--port PORT] [--open]',
  summary:
    "Decrypt payloads for Temporal's UI and CLI, on 127.0.0.1:8234, until Ctrl-C. Another host than this one's loopback demands TEMPORAL_CODEC_TOKEN, or --open.",
  flags,
  async runAtRest(args, { config, print, note }) {
    const { host = defaultHost, port = String(codecServerPort), open = false } = parseFlags(args, flags);
    if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) throw new UsageError(`--port takes a port, not ${port}.`);
    const { payloadKeys, codecToken: token, uiUrl } = config.temporal;
    if (payloadKeys.known.length === 0) throw new OpsError('TEMPORAL_PAYLOAD_KEYS is not set: there is nothing to decrypt.');
    if (!loopbacks.has(host) && token === undefined && !open)
      throw new OpsError(`Whoever reaches ${host} could read every payload: set TEMPORAL_CODEC_TOKEN, or let all in with --open.`);
    const uiOrigin = new URL(uiUrl).origin;
    const server = createServer(createCodecServer({ codec: createPayloadCodec(payloadKeys), uiOrigin, token, note }));
    server.listen(Number(port), host);
    // Rejects with the error if the port is taken.
    await once(server, 'listening').catch((error: unknown) => {
      throw new OpsError(`The codec server cannot listen: ${error instanceof Error ? error.message : error}`);
    });
    const { port: taken } = server.address() as AddressInfo;
    print(
      `The codec server listens on http://${host.includes(':') ? `[${host}]` : host}:${taken} for the UI at ${uiOrigin}. Stop: Ctrl-C.`,
    );
    await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
    server.closeAllConnections();
    server.close();
  },
};
