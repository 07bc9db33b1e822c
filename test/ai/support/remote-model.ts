import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { findViolation } from './remote-protocol.ts';

/** A request that the remote model has received. */
export interface RemoteRequest {
  path: string;
  headers: IncomingHttpHeaders;
  body: any;
}

/** How the remote model answers the next requests; `hang` never does. */
export type RemoteAnswer = { status: number; body: unknown; headers?: Record<string, string> } | 'hang';

/**
 * A server that speaks the protocol of remote models, answering as the test says. `stop` rejects if a request was not as the protocol has
 * it.
 */
export interface RemoteModel {
  baseUrl: string;
  requests: RemoteRequest[];
  answer: (request: RemoteRequest) => RemoteAnswer | Promise<RemoteAnswer>;
  stop(): Promise<void>;
}

/** Starts a remote model on a free port. */
export async function startRemoteModel(): Promise<RemoteModel> {
  const violations: string[] = [];
  const server = createServer((request, response) => {
    void json(request).then(async (body) => {
      const violation = findViolation({ method: request.method, path: request.url, contentType: request.headers['content-type'], body });
      if (violation !== undefined) violations.push(violation);
      const received = { path: request.url ?? '', headers: request.headers, body };
      model.requests.push(received);
      const answer = await model.answer(received);
      if (answer === 'hang') return;
      response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers });
      response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const model: RemoteModel = {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests: [],
    answer: () => 'hang',
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      if (violations.length > 0) throw new Error(`The remote model got what its protocol does not have: ${violations.join('; ')}`);
    },
  };
  return model;
}

/** The URL of a remote model that asks for a key, as the variable of a role has it. */
export function withKey(baseUrl: string, key: string): string {
  return baseUrl.replace('://', `://${encodeURIComponent(key)}@`);
}

/** The answer of `/chat/completions` with one choice. */
export function chat(content: string): RemoteAnswer {
  return { status: 200, body: { id: 'c1', object: 'chat.completion', choices: [{ index: 0, message: { role: 'assistant', content } }] } };
}
