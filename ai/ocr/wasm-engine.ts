import { createWorker, OEM, type Worker } from 'tesseract.js';
import { type Engine, engineSettings, modeNumbers, parseWords } from './engine.ts';
import { encodePgm } from './image/grey.ts';

/** The languages of this process, and the directory of their data: `<name>.traineddata.gz`. */
interface LanguageData {
  languages: string[];
  directory: string;
}

/** Tesseract in WebAssembly, in a thread of this process. */
interface WasmEngine extends Engine {
  /** Loads it, about half a second for each language. Rejects if data is missing. */
  load(): Promise<void>;
  end(): Promise<void>;
}

/** An engine that is loaded once and keeps warm. A signal that aborts ends it in the midst of its work, and the next picture has a new one. */
export function createWasmEngine(data: LanguageData): WasmEngine {
  let loading: Promise<Worker> | undefined;
  const load = () => {
    loading ??= startWorker(data);
    return loading;
  };
  const end = async () => {
    const ended = loading;
    loading = undefined;
    await (await ended)?.terminate();
  };
  return {
    async recognize(picture, mode, signal) {
      const worker = await load();
      signal?.throwIfAborted();
      await worker.setParameters({ tessedit_pageseg_mode: `${modeNumbers[mode]}` as never });
      const { promise: aborted, reject } = Promise.withResolvers<never>();
      const onAbort = () => {
        // The worker settles nothing once it is ended.
        void end()
          .then(load)
          .catch(() => {});
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      try {
        const read = worker.recognize(encodePgm(picture), {}, { text: false, tsv: true });
        return parseWords((await Promise.race([read, aborted])).data.tsv ?? '');
      } finally {
        signal?.removeEventListener('abort', onAbort);
      }
    },
    load: async () => void (await load()),
    end,
  };
}

async function startWorker({ languages, directory }: LanguageData): Promise<Worker> {
  const worker = await createWorker(languages, OEM.LSTM_ONLY, {
    langPath: directory,
    gzip: true,
    cacheMethod: 'none',
    // Without a handler the engine throws outside of any promise; with one it rejects the call.
    errorHandler: () => {},
  });
  await worker.setParameters(engineSettings);
  return worker;
}
