import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { countCharacters } from '../characters.ts';
import type { RawText } from '../formats/document.ts';
import { joinPages } from '../formats/outline.ts';
import { serveTasks } from '../sandbox/serve-tasks.ts';
import { decodeBmp, decodeImage } from './decode-image.ts';
import type { Engine } from './engine.ts';
import { loadModels } from './models.ts';
import { createNativeEngine } from './native-engine.ts';
import { type PageReaders, readPage } from './read-page.ts';
import type { EngineChoice, ImageTask, Recognized, Recognizers } from './task.ts';
import { loadWasmEngine } from './wasm-engine.ts';

const chosen: Recognizers = JSON.parse(process.argv[2] ?? '');
let readers: PageReaders;

// Entry of the processes that recognize text in images.
serveTasks(
  {
    ocr: async ({ bytes, mediaType, maxPages, maxTextCharacters }: ImageTask) => {
      const pages = mediaType === 'image/bmp' ? [() => decodeBmp(bytes)] : await decodeImage(bytes, maxPages);
      const read: Recognized[] = [];
      let characters = 0;
      for (const [index, decode] of pages.entries()) {
        const page = await readPage(await decode(), readers);
        read.push(page);
        characters += countCharacters(page.text);
        if (characters > maxTextCharacters && index + 1 < pages.length) {
          return { ...toPages(read, pages.length), stoppedEarly: true };
        }
      }
      return toPages(read, pages.length);
    },
  },
  async () => {
    const problem = await findProblem(chosen.tesseract);
    if (problem !== null) return problem;
    const { languages } = chosen.tesseract;
    readers = { models: await loadModels(chosen.models), tesseract: await loadEngine(chosen.tesseract), languages };
    return null;
  },
);

async function findProblem(choice: EngineChoice): Promise<string | null> {
  if (choice.kind === 'native') return null;
  for (const name of choice.languages) {
    const present = await access(join(choice.directory, `${name}.traineddata.gz`)).then(
      () => true,
      () => false,
    );
    if (!present) return `there is no readable ${name}.traineddata.gz in OCR_LANGUAGES_DIR`;
  }
  return null;
}

async function loadEngine(choice: EngineChoice): Promise<Engine> {
  return choice.kind === 'native' ? createNativeEngine(choice) : await loadWasmEngine(choice);
}

function toPages(read: Recognized[], pages: number): RawText {
  const pageTexts = read.map(({ text }) => text);
  const [ocrConfidence, pageNotices] = [read.map(({ confidence }) => confidence), read.map(({ notices }) => notices)];
  return { text: joinPages(pageTexts), pages, pageTexts, ocrConfidence, pageNotices, pageLines: read.map(({ lines }) => lines) };
}
