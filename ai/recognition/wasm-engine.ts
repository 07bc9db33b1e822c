import { createWorker, OEM, type Worker } from 'tesseract.js';
import { type Engine, encodePgm, engineSettings, oneBlock, parseWords } from './engine.ts';

/** The languages of this process, and the directory of their data: `<name>.traineddata.gz`. */
interface LanguageData {
  languages: string[];
  directory: string;
}

/** Loads Tesseract in WebAssembly, in a thread of this process: about half a second for each language. Rejects if data is missing. */
export async function loadWasmEngine({ languages, directory }: LanguageData): Promise<Engine & { end(): Promise<void> }> {
  const worker: Worker = await createWorker(languages, OEM.LSTM_ONLY, {
    langPath: directory,
    gzip: true,
    cacheMethod: 'none',
    // Without a handler the engine throws outside of any promise; with one it rejects the call.
    errorHandler: () => {},
  });
  await worker.setParameters({ ...engineSettings, tessedit_pageseg_mode: oneBlock as never });
  return {
    recognize: async (picture) => parseWords((await worker.recognize(encodePgm(picture), {}, { text: false, tsv: true })).data.tsv ?? ''),
    end: async () => void (await worker.terminate()),
  };
}
