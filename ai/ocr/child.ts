import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { countCharacters } from '../characters.ts';
import type { RawText } from '../extract/document.ts';
import { joinPages } from '../extract/outline.ts';
import { serveTasks } from '../pool/serve-tasks.ts';
import { decodeBmp, decodeImage } from './decode-image.ts';
import type { Engine } from './engine.ts';
import { createNativeEngine } from './native-engine.ts';
import { readPage } from './read-page.ts';
import { deadlineOf, type EngineChoice, type ImageTask, type Recognized } from './task.ts';
import { createWasmEngine } from './wasm-engine.ts';

const choice: EngineChoice = JSON.parse(process.argv[2] ?? '');
let engine: Engine;

// Entry of the processes that recognize text in images.
serveTasks(
  {
    ocr: async ({ bytes, mediaType, maxPages, maxTextCharacters, ...times }: ImageTask) => {
      const deadline = deadlineOf(times);
      const pages = mediaType === 'image/bmp' ? [() => decodeBmp(bytes)] : await decodeImage(bytes, maxPages);
      const read: Recognized[] = [];
      let characters = 0;
      for (const [index, decode] of pages.entries()) {
        const picture = await decode();
        const now = performance.now();
        // A page that is hard to read must not use up the time of the pages after it.
        const page = await readPage(picture, engine, now + (deadline - now) / (pages.length - index));
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
    if (choice.kind === 'native') {
      engine = createNativeEngine(choice);
      return null;
    }
    const { directory, languages } = choice;
    for (const name of languages) {
      const present = await access(join(directory, `${name}.traineddata.gz`)).then(
        () => true,
        () => false,
      );
      if (!present) return `there is no readable ${name}.traineddata.gz in OCR_LANGUAGES_DIR`;
    }
    const wasm = createWasmEngine({ directory, languages });
    engine = wasm;
    await wasm.load();
    return null;
  },
);

function toPages(read: Recognized[], pages: number): RawText {
  const pageTexts = read.map(({ text }) => text);
  const [ocrConfidence, pageNotices] = [read.map(({ confidence }) => confidence), read.map(({ notices }) => notices)];
  return { text: joinPages(pageTexts), pages, pageTexts, ocrConfidence, pageNotices };
}
