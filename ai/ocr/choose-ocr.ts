import type { AiServiceConfig } from '../../config/ai-service.ts';
import { ProcessPool } from '../pool/process-pool.ts';
import type { ChildOptions } from '../pool/warm-child.ts';
import { createRemoteOcr } from '../remote/remote-ocr.ts';
import { createLocalOcr } from './local-ocr.ts';
import type { OcrBackend } from './ocr-backend.ts';

const gibibyte = 1024 ** 3;

/** The OCR of this deployment, with the processes it runs in. */
export interface Ocr {
  /** The backend that can be used now, if any. */
  backend(): OcrBackend | undefined;
  /** Why images cannot be read although they should, in one sentence, or null. */
  problem(): string | null;
  close(): Promise<void>;
}

/**
 * Chooses the backend by OCR_PROVIDER: `auto` is the remote one if a remote key is configured, else the local one. `size` is the
 * number of local processes.
 */
export function chooseOcr(config: AiServiceConfig, size: number, onStderr: ChildOptions['onStderr']): Ocr {
  const { ocrProvider, remote } = config;
  if (ocrProvider === 'none') return fixed(undefined, null);
  if (remote && ocrProvider !== 'local') return fixed(createRemoteOcr(remote, config), null);
  if (ocrProvider === 'remote') return fixed(undefined, 'Images cannot be read: OCR_PROVIDER is remote, but REMOTE_AI_KEY is not set.');
  const entry = new URL('./child.ts', import.meta.url);
  const pool = new ProcessPool({ entry, size, heapMegabytes: 512, memoryBytes: 1.5 * gibibyte, onStderr });
  const local = createLocalOcr(pool, config);
  return {
    backend: () => (pool.problem === null ? local : undefined),
    problem: () => (pool.problem === null ? null : `Images cannot be read: the local text recognition does not run (${pool.problem}).`),
    close: () => pool.close(),
  };
}

function fixed(backend: OcrBackend | undefined, problem: string | null): Ocr {
  return { backend: () => backend, problem: () => problem, close: async () => {} };
}
