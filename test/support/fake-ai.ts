import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

type AiOperation = 'extract' | 'summarize' | 'embed' | 'answer' | 'rewrite' | 'fields' | 'rerank';

/** A call as the fake service got it: its JSON body, or the raw bytes of a document. */
export interface AiCall {
  operation: AiOperation;
  requestId: string;
  /** Whose work it is said to be. */
  tenant: string | undefined;
  /** How long the caller of an extraction waits. */
  seconds: number | undefined;
  body: any;
}

/** What the fake service answers; a string is sent as it is, and `cut` breaks the connection after it. `undefined` never answers. */
export type AiAnswer = { status?: number; headers?: Record<string, string>; body: unknown; cut?: boolean } | undefined;

type AiBehaviour = (call: AiCall) => AiAnswer | Promise<AiAnswer>;

/** A server that speaks the AI service's protocol and misbehaves as a test asks. */
export interface FakeAi {
  url: string;
  /** Variables that point an API at it. */
  env: Record<string, string>;
  /** What it says embeds and summarizes: `local` costs nothing to search with. */
  provider: string;
  /** What it says of its models, the own one first. */
  embeddings: { model: string; dimensions: number | null; chunk_characters: number; texts_per_call: number }[];
  calls: AiCall[];
  /** Calls that are being answered now, and the most there ever were at once. */
  readonly running: number;
  maxRunning: number;
  /** What an operation does from now on; without a behaviour it answers well. */
  behave(operation: AiOperation, behaviour?: AiBehaviour): void;
  /** How many calls a job has made. */
  callsOf(jobId: string): number;
  stop(): Promise<void>;
}

/** An error as the service answers it. */
export function aiError(status: number, code: string, headers: Record<string, string> = {}): AiAnswer {
  return { status, headers, body: { error: { code, message: `The fake service says ${code}.` } } };
}

/** An answer by the numbers of units. */
export function picking(answer: { units: number[]; mark?: string | null }[], passages = 1) {
  const picks = answer.map(({ units, mark = null }) => ({ units, mark }));
  return { answer: passages > 0 ? picks : [], draft: null, extractive: true, model: null };
}

/** The pick of each of some texts among the units that were given; of a text that none has, a number that none has. */
export function quoting(texts: string[], model: string | null = null) {
  return ({ body: { passages } }: AiCall): AiAnswer => {
    const units = passages.flatMap((passage: { units: { text: string }[] }) => passage.units.map(({ text }) => text));
    return { body: { ...picking(texts.map((text) => ({ units: [units.indexOf(text) + 1] }))), model, extractive: model === null } };
  };
}

/** What the service answers when all is well. */
export function goodAnswer({ operation, body }: AiCall): AiAnswer {
  if (operation === 'embed') return { body: { model: 'fake', dimensions: 2, vectors: body.texts.map(() => [0.6, 0.8]) } };
  if (operation === 'summarize') return { body: { summary: 'Short.', sentences: 1, model: 'fake', characters: body.text.length } };
  if (operation === 'answer') return { body: picking([{ units: [1], mark: null }], body.passages.length) };
  if (operation === 'rewrite') return { body: { question: null } };
  if (operation === 'fields') return { body: { model: 'fake', parts: [], unreadable: 0 } };
  // The other way round, as if the last one responded best.
  if (operation === 'rerank') {
    const results = body.documents.map((_: string, index: number) => ({ index, relevance_score: index })).reverse();
    return { body: { model: 'fake', results } };
  }
  const text = String(body);
  return { body: { text, characters: text.length, pages: null, truncated: false, content_type: 'text/plain' } };
}

/** Answers well, or as told, but only after a while: calls are under way side by side. */
export function answerLate(ms: number, behaviour: AiBehaviour = goodAnswer): AiBehaviour {
  return async (call) => {
    await delay(ms);
    return behaviour(call);
  };
}

/** Holds the calls of an operation from now on until the function that it returns is called, then answers them well. */
export function holdCalls(ai: FakeAi, operation: AiOperation): () => void {
  const free = Promise.withResolvers<void>();
  ai.behave(operation, async (call) => {
    await free.promise;
    return goodAnswer(call);
  });
  return free.resolve;
}

/** Starts one on a free port. The caller stops it. */
export async function startFakeAi(): Promise<FakeAi> {
  const behaviours = new Map<AiOperation, AiBehaviour>();
  let running = 0;
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const operation = request.url?.slice('/v1/'.length) as AiOperation;
    if (request.url === '/health') {
      const { provider, embeddings } = fake;
      return send(response, { body: { ok: true, provider, chat: provider, ocr: 'none', auth: 'token', problems: [], embeddings } });
    }
    fake.maxRunning = Math.max(fake.maxRunning, ++running);
    response.once('close', () => running--);
    const bytes = await readAll(request).catch(() => undefined);
    if (!bytes) return;
    const body = operation === 'extract' ? bytes : JSON.parse(bytes.toString());
    const call = {
      operation,
      requestId: String(request.headers['x-request-id']),
      tenant: request.headers['x-tenant']?.toString(),
      seconds: operation === 'extract' ? Number(request.headers['x-seconds']) : undefined,
      body,
    };
    fake.calls.push(call);
    const answered = await (behaviours.get(operation) ?? goodAnswer)(call);
    if (answered) send(response, { ...answered, body: asWanted(call, answered.body) });
  }

  const fake: FakeAi = {
    url,
    env: { AI_SERVICE_URL: url },
    provider: 'local',
    embeddings: [{ model: 'fake', dimensions: 2, chunk_characters: 1_200, texts_per_call: 32 }],
    calls: [],
    get running() {
      return running;
    },
    maxRunning: 0,
    behave(operation, behaviour) {
      if (behaviour) behaviours.set(operation, behaviour);
      else behaviours.delete(operation);
    },
    callsOf: (jobId) => fake.calls.filter(({ requestId }) => requestId === jobId).length,
    stop: () => close(server),
  };
  return fake;
}

/** Adds to a text the outline, and writes vectors as floats, as the service does where it is asked for them. */
function asWanted({ operation, body: wanted }: AiCall, body: any): unknown {
  if (operation === 'extract' && typeof body?.text === 'string') return { outline: { page_starts: null, headings: [] }, ...body };
  if (wanted.encoding_format !== 'base64' || !Array.isArray(body?.vectors)) return body;
  return { ...body, vectors: body.vectors.map((vector: number[]) => Buffer.from(Float32Array.from(vector).buffer).toString('base64')) };
}

function send(response: ServerResponse, { status = 200, headers = {}, body, cut }: NonNullable<AiAnswer>): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  const data = typeof body === 'string' ? body : JSON.stringify(body);
  if (cut) response.write(data, () => response.destroy());
  else response.end(data);
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

function close(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

/** The error of a provider that is down, as the service passes it on. */
export function providerError(role: 'chat' | 'embed' | 'vision', state: string, headers: Record<string, string> = {}): AiAnswer {
  return {
    status: 502,
    headers,
    body: { error: { code: 'remote_failed', message: 'The remote model is away.', provider: { role, state } } },
  };
}
