import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { expect } from 'chai';
import sharp from 'sharp';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';
import { nightly } from '../support/nightly.ts';
import { childrenOf, cpuSecondsOf, until } from '../support/processes.ts';
import { refusalOf, startAiService } from './support/ai-service.ts';
import { ocrEngines } from './support/ocr-engines.ts';
import { drawLine, scan } from './support/scan.ts';
import { useAiService } from './support/use-ai-service.ts';

const notice = readFileSync('docs/examples/samples/trail-notice.png');

for (const { engine, env } of ocrEngines)
  describe(`images at /v1/extract, read by ${engine}`, () => {
    const service = useAiService({ OCR_PROVIDER: 'auto', MAX_PDF_PAGES: '3', ...env });
    let line: Buffer;
    before(async () => {
      line = await drawLine('The bridge is closed');
    });

    const read = (body: Buffer, contentType: string) => service.client.extract({ body, contentType });

    it('reads PNG, and says how sure it is', async () => {
      expect(await service.client.health()).to.include({ ok: true, ocr: 'local' });
      const png = await read(notice, 'image/png');
      expect(png.text).to.match(/NOTICE TO HIKERS[\s\S]*The suspension bridge at Gorse Hollow is closed[\s\S]*until 14 September/);
      expect(png.ocrConfidence?.[0]).to.be.within(80, 100);
      expect({ ...png, text: '', ocrConfidence: [], outline: { ...png.outline, lines: [] } }).to.deep.equal({
        text: '',
        ocrConfidence: [],
        characters: png.text.length,
        pages: 1,
        truncated: false,
        contentType: 'image/png',
        outline: { page_starts: [0], headings: [], lines: [] },
      });
    });

    it('reads JPEG, WebP and BMP', async () => {
      const pictures = {
        'image/jpeg': await sharp(line).jpeg({ quality: 80 }).toBuffer(),
        'image/webp': await sharp(line).webp({ lossless: true }).toBuffer(),
        'image/bmp': await makeBmp(line),
      };
      for (const [type, body] of Object.entries(pictures)) expect((await read(body, type)).text, type).to.equal('The bridge is closed');
    });

    nightly('reads every page of a TIFF', async () => {
      const { text, pages, outline } = await read(await makeTiff(['First page', 'Second page', 'Third page']), 'image/tiff');
      expect({ text, pages }).to.deep.equal({ text: 'First page\n\nSecond page\n\nThird page', pages: 3 });
      expect(outline.page_starts).to.deep.equal([0, text.indexOf('Second'), text.indexOf('Third')]);
      const longer = await service.extract((await makeTiff(['a', 'b', 'c', 'd'])) as never, 'image/tiff');
      expect(await refusalOf(longer)).to.deep.equal([413, 'too_many_pages']);
    });

    it('refuses for good an image of another kind than declared', async () => {
      const refused = await service.extract((await sharp(line).jpeg().toBuffer()) as never, 'image/png');
      expect(refused.status).to.equal(422);
      expect(await refused.text()).to.contain('The file is a JPEG image, but was declared as image/png.');
    });

    it('unwraps an image from the base64 form', async () => {
      const file = { name: 'line.png', content_type: 'image/png', data_base64: line.toString('base64') };
      const response = await service.extract(JSON.stringify({ file }), 'application/json');
      expect(await response.json()).to.include({ content_type: 'image/png', pages: 1, text: 'The bridge is closed' });
    });

    it('answers an empty text for an image without text', async () => {
      for (const [width, height] of [
        [1, 1],
        [2, 300],
        [40_000, 1],
      ] as const) {
        const blank = sharp({ create: { width, height, channels: 3, background: 'white' } }).png();
        expect(await read(await blank.toBuffer(), 'image/png'), `${width} by ${height}`).to.include({ text: '', characters: 0, pages: 1 });
      }
    });

    it('refuses what is no image, is damaged, or hides another format', async () => {
      const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>');
      for (const [body, type] of [
        [Buffer.from('no image at all'), 'image/png'],
        [notice.subarray(0, 300), 'image/png'],
        [svg, 'image/png'],
        [Buffer.from('BMxxxx'), 'image/bmp'],
        [Buffer.alloc(5000, 7), 'image/tiff'],
      ] as const) {
        expect(await refusalOf(await service.extract(body, type)), type).to.deep.equal([415, 'unreadable_image']);
      }
      for (const type of ['image/gif', 'image/svg+xml', 'image/heic']) {
        expect(await refusalOf(await service.extract(notice, type)), type).to.deep.equal([415, 'unsupported_image']);
      }
      expect(await refusalOf(await service.extract(hugeImage(), 'image/png'))).to.deep.equal([415, 'unreadable_image']);
      expect((await read(line, 'image/png')).text).to.equal('The bridge is closed');
    });
  });

describe('images at /v1/extract, at their limits', () => {
  it('are refused with 415 where there is no OCR', async () => {
    await using service = await startAiService({ OCR_PROVIDER: 'none' });
    expect(await refusalOf(await service.extract(notice, 'image/png'))).to.deep.equal([415, 'ocr_unavailable']);
    expect(await service.client.health()).to.deep.include({ ok: true, ocr: 'none', problems: [] });
  });

  it('are refused with 415 where a remote model is to read them and there is none, as its health says', async () => {
    await using service = await startAiService({ OCR_PROVIDER: 'remote' });
    const { ok, ocr, problems } = await service.client.health();
    expect({ ok, ocr }).to.deep.equal({ ok: false, ocr: 'none' });
    expect(problems).to.have.length(1);
    expect(problems[0]).to.match(/^Images cannot be read: OCR_PROVIDER is remote, but .*REMOTE_AI_KEY is missing/);
    expect(await refusalOf(await service.extract(notice, 'image/png'))).to.deep.equal([415, 'ocr_unavailable']);
    expect((await service.client.extract({ body: Buffer.from('well'), contentType: 'text/plain' })).text).to.equal('well');
  });

  it('are read by the installed models where MODELS_DIR has none for them, and not where it is missing', async () => {
    const directory = makeTestDirectory();
    // The process that reads is another user.
    chmodSync(directory, 0o755);
    {
      await using service = await startAiService({ OCR_PROVIDER: 'local', MODELS_DIR: directory });
      expect((await service.client.extract({ body: notice, contentType: 'image/png' })).text).to.match(/NOTICE TO HIKERS/);
    }
    await using service = await startAiService({ OCR_PROVIDER: 'local', MODELS_DIR: `${directory}/missing` });
    await until(async () => !(await service.client.health()).ok);
    expect((await service.client.health()).problems.join()).to.match(/^Images cannot be read: .*missing/);
    removeTestDirectory(directory);
  });

  nightly('leave room for other documents, and wait for each other', async () => {
    const service = await startAiService({ OCR_PROVIDER: 'local', AI_READERS: '2', AI_RECOGNIZERS: '1', PATH: '' });
    const leaving = new AbortController();
    try {
      const body = await makeTiff(Array.from({ length: 200 }, (_, index) => `Page ${index} of a book that never ends`));
      let ended = 0;
      const images = Array.from({ length: 8 }, () =>
        service.client
          .extract({ body, contentType: 'image/tiff', signal: leaving.signal })
          .catch(() => undefined)
          .finally(() => (ended += 1)),
      );
      // The engine takes about a second of it to load.
      const recognizers = () => childrenOf(service.pid).filter(({ command }) => command.includes('recognition/child.ts'));
      await until(() => cpuSecondsOf(recognizers().map(({ pid }) => pid)) > 3);
      expect((await service.client.extract({ body: Buffer.from('well'), contentType: 'text/plain' })).text).to.equal('well');
      expect(ended).to.equal(0);
      leaving.abort();
      await Promise.all(images);
    } finally {
      await service.stop();
    }
  });

  nightly("end the system's Tesseract with their task", async () => {
    const directory = makeTestDirectory();
    // Stands for one that reads for very long.
    const slow = '#!/bin/sh\ncase "$*" in --version) echo tesseract 5;; --list-langs) echo eng;; *) exec sleep 600;; esac\n';
    writeFileSync(`${directory}/tesseract`, slow);
    chmodSync(`${directory}/tesseract`, 0o755);
    const service = await startAiService({ OCR_PROVIDER: 'local', OCR_TIMEOUT_SECONDS: '20', PATH: directory });
    const programs = () => childrenOf(service.pid).flatMap(({ pid }) => childrenOf(pid).filter(({ command }) => command === 'sleep 600'));
    try {
      // In a script that the first recognizer does not know.
      const body = await scan(Array(6).fill('Арендатор вносит плату не позднее пятого числа каждого месяца.'));
      const reading = service.client.extract({ body, contentType: 'image/jpeg' }).catch((error: unknown) => error);
      await until(() => programs().length > 0);
      const [{ pid } = { pid: 0 }] = programs();
      expect(await reading).to.include({ code: 'ocr_timeout' });
      await until(() => !existsSync(`/proc/${pid}`), 10_000);
    } finally {
      await service.stop();
      removeTestDirectory(directory);
    }
  });

  nightly('fail with 502 after OCR_TIMEOUT_SECONDS, and the next one is read', async () => {
    await using service = await startAiService({ OCR_PROVIDER: 'local', OCR_TIMEOUT_SECONDS: '10' });
    const pages = await makeTiff(Array.from({ length: 200 }, (_, index) => `Page ${index} of a book that never ends`));
    const error = await service.client.extract({ body: pages, contentType: 'image/tiff' }).catch((caught: unknown) => caught);
    expect(error).to.include({ kind: 'failed', status: 502, code: 'ocr_timeout', retryable: true });
    const { text } = await service.client.extract({ body: await drawLine('Short page'), contentType: 'image/png' });
    expect(text).to.contain('Short page');
  });
});

async function makeTiff(pages: string[]): Promise<Buffer> {
  const pictures = await Promise.all(pages.map((page) => drawLine(page)));
  return await sharp(pictures, { join: { animated: true } })
    .tiff({ compression: 'deflate' })
    .toBuffer();
}

/** A picture as an uncompressed 24-bit BMP, which sharp cannot write: rows from the bottom, padded to four bytes, blue first. */
async function makeBmp(picture: Buffer): Promise<Buffer> {
  const { data, info } = await sharp(picture).flatten().toColourspace('srgb').removeAlpha().raw().toBuffer({ resolveWithObject: true });
  const rowBytes = Math.ceil((info.width * 3) / 4) * 4;
  const bmp = Buffer.alloc(54 + rowBytes * info.height);
  bmp.write('BM');
  bmp.writeUInt32LE(bmp.length, 2);
  bmp.writeUInt32LE(54, 10);
  bmp.writeUInt32LE(40, 14);
  bmp.writeInt32LE(info.width, 18);
  bmp.writeInt32LE(info.height, 22);
  bmp.writeUInt16LE(1, 26);
  bmp.writeUInt16LE(24, 28);
  for (let y = 0; y < info.height; y += 1) {
    for (let x = 0; x < info.width * 3; x += 1) {
      const source = y * info.width * info.channels + Math.floor(x / 3) * info.channels + (2 - (x % 3));
      bmp[54 + (info.height - 1 - y) * rowBytes + x] = data[source] ?? 0;
    }
  }
  return bmp;
}

/** A small file whose header promises 3.6 billion pixels. */
function hugeImage(): Buffer {
  const png = Buffer.from(notice);
  const header = png.subarray(12, 29);
  header.writeUInt32BE(60_000, 4);
  header.writeUInt32BE(60_000, 8);
  png.writeUInt32BE(crc32(header), 29);
  return png;
}
