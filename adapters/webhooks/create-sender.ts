import { Agent, type IncomingMessage, request as sendPlain } from 'node:http';
import { request as sendOverTls, Agent as TlsAgent } from 'node:https';
import { version } from '../../contract/version.ts';
import { AddressRule } from './address-rule.ts';
import { HostCheck } from './connect.ts';
import { describeFailure, judge } from './judge.ts';
import type { WebhookRequest, WebhookSender } from './port.ts';
import type { Resolve } from './resolve.ts';
import { secondsOf, signAll } from './sign.ts';

interface SenderOptions {
  /** Networks that may be reached although they are not public, such as `10.0.0.0/8`. */
  allowedNetworks: readonly string[];
  /** How long a request may take, from the connection to the end of the response. */
  timeoutMs: number;
  resolve?: Resolve;
}

/** How much of a response is kept. */
const keptBytes = 4_096;
/** How long a connection is kept that is not used. */
const idleMs = 4_000;

type Post = (request: WebhookRequest, call: { at: Date; signal: AbortSignal }) => Promise<Parameters<typeof judge>[0]>;

/** Creates the sender of webhooks. It follows no redirects and uses no proxy. */
export function createSender({ allowedNetworks, timeoutMs, resolve }: SenderOptions): WebhookSender {
  const hosts = new HostCheck(new AddressRule(allowedNetworks), resolve);
  const kept = { keepAlive: true, timeout: idleMs };
  const [plain, tls] = [new Agent(kept), new TlsAgent(kept)];
  const post = createPost(hosts, (url) =>
    url.protocol === 'https:' ? { send: sendOverTls, agent: tls } : { send: sendPlain, agent: plain },
  );
  return {
    async send(request, stopping) {
      const at = new Date();
      const begunMs = performance.now();
      const timeout = AbortSignal.timeout(timeoutMs);
      const answered = await post(request, { at, signal: AbortSignal.any([stopping, timeout]) }).then(judge, (error) =>
        describeFailure(error, timeout.aborted ? timeoutMs : undefined),
      );
      return { at: at.toISOString(), durationMs: Math.round(performance.now() - begunMs), ...answered };
    },
    async close() {
      plain.destroy();
      tls.destroy();
    },
  };
}

/** Node's own client: unlike that of undici, it skips a `100 Continue` that nobody asked for, as RFC 9110 demands. */
function createPost(hosts: HostCheck, clientOf: (url: URL) => { send: typeof sendPlain; agent: Agent }): Post {
  return async ({ url: given, id, body, secrets }, { at, signal }) => {
    const url = new URL(given);
    const headers = {
      'content-type': 'application/json',
      'user-agent': `Sheaf-Webhooks/${version}`,
      'webhook-id': id,
      'webhook-timestamp': String(secondsOf(at)),
      'webhook-signature': signAll(secrets, { id, at, body }),
    };
    const { send, agent } = clientOf(url);
    const request = send(url, { agent, method: 'POST', headers, lookup: hosts.lookupFor(url), signal, maxHeaderSize: 16_384 });
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      // These stay: a connection may break after the response. One that is switched to another protocol closes with neither.
      request.on('response', resolve).on('error', reject);
      request.on('close', () => reject(new Error('closed without a response')));
      request.end(body);
    });
    return { status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'], body: await readStart(response) };
  };
}

/** The first 4 kB of a response. What follows is not read; a response that breaks off has been given all the same. */
async function readStart(body: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= keptBytes) break;
    }
  } catch {}
  // Postgres stores no NUL.
  return Buffer.concat(chunks).subarray(0, keptBytes).toString('utf8').replaceAll('\0', '');
}
