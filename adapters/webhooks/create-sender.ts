import { Agent, type Dispatcher, request as send } from 'undici';
import { version } from '../../contract/version.ts';
import { AddressRule } from './address-rule.ts';
import { createConnector } from './connect.ts';
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

/** Creates the sender of webhooks. It follows no redirects and uses no proxy. */
export function createSender({ allowedNetworks, timeoutMs, resolve }: SenderOptions): WebhookSender {
  const connect = createConnector(new AddressRule(allowedNetworks), resolve);
  const agent = new Agent({ connect, allowH2: false, keepAliveTimeout: 4_000, maxHeaderSize: 16_384 });
  return {
    async send(request, stopping) {
      const at = new Date();
      const begunMs = performance.now();
      const timeout = AbortSignal.timeout(timeoutMs);
      const answered = await post(agent, request, { at, timeoutMs, signal: AbortSignal.any([stopping, timeout]) }).then(judge, (error) =>
        describeFailure(error, timeout.aborted ? timeoutMs : undefined),
      );
      return { at: at.toISOString(), durationMs: Math.round(performance.now() - begunMs), ...answered };
    },
    close: () => agent.destroy(),
  };
}

async function post(
  dispatcher: Agent,
  { url, id, body, secrets }: WebhookRequest,
  { at, timeoutMs, signal }: { at: Date; timeoutMs: number; signal: AbortSignal },
) {
  const headers = {
    'content-type': 'application/json',
    'user-agent': `Sheaf-Webhooks/${version}`,
    'webhook-id': id,
    'webhook-timestamp': String(secondsOf(at)),
    'webhook-signature': signAll(secrets, { id, at, body }),
  };
  const response = await send(url, {
    dispatcher,
    method: 'POST',
    headers,
    body,
    signal,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });
  return { status: response.statusCode, retryAfter: response.headers['retry-after'], body: await readStart(response.body) };
}

/** The first 4 kB of a response. What follows is not read; a response that breaks off has been given all the same. */
async function readStart(body: Dispatcher.ResponseData['body']): Promise<string> {
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
