import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { countCharacters } from '../characters.ts';
import type { RawText } from '../extract/document.ts';
import { joinPages } from '../extract/outline.ts';
import { serveTasks } from '../pool/serve-tasks.ts';
import { readUpright } from './read-upright.ts';
import { loadEngine, preparePages, recognizeBmp } from './recognize.ts';
import { deadlineOf, type ImageTask, type Recognized } from './task.ts';

const [directory = '', ...languages] = process.argv.slice(2);

// Entry of the processes that recognize text in images.
serveTasks(
  {
    ocr: async ({ bytes, mediaType, maxPages, maxTextCharacters, ...times }: ImageTask) => {
      const deadline = deadlineOf(times);
      if (mediaType === 'image/bmp') return toPages([await recognizeBmp(Buffer.from(bytes))], 1);
      const pages = await preparePages(bytes, maxPages);
      const read: Recognized[] = [];
      let characters = 0;
      for (const [index, prepare] of pages.entries()) {
        const prepared = await prepare();
        const now = performance.now();
        // Reading a page in other directions must not use up the time of the pages after it.
        const page = await readUpright(prepared, now + (deadline - now) / (pages.length - index));
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
    for (const name of languages) {
      const present = await access(join(directory, `${name}.traineddata.gz`)).then(
        () => true,
        () => false,
      );
      if (!present) return `there is no readable ${name}.traineddata.gz in OCR_LANGUAGES_DIR`;
    }
    await loadEngine({ directory, languages });
    return null;
  },
);

function toPages(read: Recognized[], pages: number): RawText {
  const pageTexts = read.map(({ text }) => text);
  return { text: joinPages(pageTexts), pages, pageTexts, ocrConfidence: read.map(({ confidence }) => confidence) };
}
