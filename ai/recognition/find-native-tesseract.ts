import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { AiServiceConfig } from '../../base/config/ai-service.ts';
import { isExecutable, programLimits } from '../sandbox/isolation.ts';
import type { NativeTesseract } from './native-engine.ts';

const probeTimeoutMs = 10_000;
/** The first one that takes a picture from its input and writes words with their confidence by the network (LSTM). */
const minVersion = 4;

type LanguageConfig = Pick<AiServiceConfig, 'ocrLanguages' | 'ocrLanguagesDirectory' | 'programPath'>;

/**
 * Tesseract of the system, with its limits, if it is in one of the directories of `programPath` and has data of all the languages: in
 * OCR_LANGUAGES_DIR if that is set, else where the system keeps them.
 */
export function findNativeTesseract(config: LanguageConfig, memoryBytes: number): NativeTesseract | undefined {
  const { ocrLanguages: languages, ocrLanguagesDirectory: directory, programPath } = config;
  const program = programPath.map((path) => join(path, 'tesseract')).find(isExecutable);
  if (program === undefined) return undefined;
  const options = directory === undefined ? [] : ['--tessdata-dir', directory];
  const ask = (...args: string[]) => spawnSync(program, args, { env: {}, encoding: 'utf8', timeout: probeTimeoutMs }).stdout ?? '';
  const version = Number(/^tesseract v?(\d+)/.exec(ask('--version'))?.[1] ?? 0);
  const present = new Set(
    ask(...options, '--list-langs')
      .split('\n')
      .map((line) => line.trim()),
  );
  if (version < minVersion || !languages.every((name) => present.has(name))) return undefined;
  return { command: [...programLimits(memoryBytes), program, ...options], languages };
}
