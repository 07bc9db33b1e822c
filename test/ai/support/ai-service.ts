import { type AiClient, createAiClient } from '../../../adapters/ai-service/client.ts';
import type { Environment } from '../../../base/config/environment.ts';
import { type Program, runProgram } from '../../support/processes.ts';

export const token = 'token-of-this-test';

/** An AI service of a test's own, on a free port. */
export interface AiService {
  url: string;
  pid: number;
  program: Program;
  client: AiClient;
  /** A plain request with the token. */
  ask(path: string, init?: RequestInit): Promise<Response>;
  /** Posts raw bytes to /v1/extract. */
  extract(body: RequestInit['body'], contentType: string): Promise<Response>;
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts the real service. Without OCR unless the variables say otherwise, since its engine takes a second to load. */
export async function startAiService(env: Environment = {}): Promise<AiService> {
  const program = runProgram(process.execPath, ['ai/main.ts'], {
    env: { AI_PORT: '0', HOST: '127.0.0.1', SERVICE_TOKEN: token, OCR_PROVIDER: 'none', LOG_LEVEL: 'info', ...env },
  });
  const [, port] = await program.printed(/"port":(\d+)/);
  const url = `http://127.0.0.1:${port}`;
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`${url}${path}`, { ...init, headers: { 'x-service-token': token, ...(init.headers as Record<string, string>) } });
  const stop = async () => {
    program.child.kill('SIGTERM');
    await program.exited;
  };
  return {
    url,
    pid: program.pid,
    program,
    client: createAiClient({ baseUrl: url, token }),
    ask,
    extract: (body, contentType) =>
      ask('/v1/extract', { method: 'POST', body, headers: { 'content-type': contentType }, duplex: 'half' } as RequestInit),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** The status of a refusal, and its code. */
export async function refusalOf(response: Response): Promise<[number, string]> {
  const body = (await response.json()) as { error?: { code?: unknown; message?: unknown } };
  if (typeof body.error?.message !== 'string') throw new Error(`This is no refusal: ${JSON.stringify(body)}`);
  return [response.status, String(body.error.code)];
}
