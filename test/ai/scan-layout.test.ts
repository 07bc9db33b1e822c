import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import PDFDocument from 'pdfkit';
import sharp from 'sharp';
import { nightly } from '../support/nightly.ts';
import { type AiService, startAiService } from './support/ai-service.ts';
import { ocrEngines } from './support/ocr-engines.ts';

const invoice = [
  'Invoice 2026-0417 of Harbour Works\nFor repairs at the slipway in March we charge:',
  '| Item | Hours | Price |\n| Crane and driver | 6 | 310.00 |\n| New steel rope | 2 | 145.50 |\n| Paint for the gate | 4 | 88.20 |\n| Travel | 1 | 24.00 |',
  'Please pay within fourteen days. Thank you for your trust.',
].join('\n\n');
const departures = `| Stop | Leaves | Arrives | Fare |
| Quayside | 09:15 | 09:40 | 4.20 EUR |
| Hilltop | 10:05 | 10:35 | 5.10 EUR |
| Mosswater | 11:20 | 12:00 | 6.80 EUR |
| Old Mill | 13:45 | 14:10 | 4.20 EUR |`;
const openScan = (name: string) => readFileSync(new URL(`./scans/${name}.png`, import.meta.url));

/** A PDF of one page, which shows a scan of 200 dots per inch as scanners store it. */
async function printScan(name: string): Promise<Buffer> {
  const { data, info } = await sharp(openScan(name))
    .flatten({ background: 'white' })
    .jpeg({ quality: 75 })
    .toBuffer({ resolveWithObject: true });
  const size: [number, number] = [(info.width * 72) / 200, (info.height * 72) / 200];
  const document = new PDFDocument({ size, margin: 0 });
  document.image(data, 0, 0, { width: size[0] });
  document.end();
  return Buffer.concat(await document.toArray());
}

for (const { engine, env } of ocrEngines)
  describe(`The layout of an image, by ${engine}`, () => {
    let service: AiService;
    before(async () => {
      const timeouts = { OCR_TIMEOUT_SECONDS: '500', EXTRACT_TIMEOUT_SECONDS: '500', OCR_SCANNED_PDF_SECONDS: '500' };
      service = await startAiService({ OCR_PROVIDER: 'local', OCR_SCANNED_PDF: 'true', ...timeouts, ...env });
    });
    after(() => service.stop());
    const read = (body: Buffer, contentType = 'image/png') => service.client.extract({ body, contentType });

    it('has every row of a table, with and without rules, also of a table alone', async () => {
      expect((await read(openScan('invoice_plain'))).text).to.equal(invoice);
      expect((await read(openScan('invoice_ruled'))).text).to.equal(invoice);
      expect((await read(openScan('tab_lines'))).text).to.equal(departures);
    });

    it('has every row of a table with thick rules, and of one that is askew', async () => {
      const flat = sharp(openScan('tab_lines')).flatten({ background: 'white' }).greyscale();
      const thick = await sharp(await flat.png().toBuffer())
        .dilate(1)
        .png()
        .toBuffer();
      expect((await read(thick)).text.replace(/\s/g, '')).to.equal(departures.replace(/\s/g, ''));
      const askew = await sharp(openScan('invoice_ruled')).rotate(4, { background: 'white' }).png().toBuffer();
      expect((await read(askew)).text).to.equal(invoice);
    });

    it('has columns one after the other', async () => {
      const { text, ocrConfidence } = await read(openScan('cols'));
      expect(text).to.match(/^The boat club keeps its rowing boats in\nthe lower shed\./);
      expect(text.indexOf('Visitors may land')).to.be.greaterThan(text.indexOf('box beside the door before dusk.'));
      expect(ocrConfidence?.[0]).to.be.within(85, 100);
    });

    it('is the same where the image is the page of a PDF', async () => {
      const invoicePdf = await read(await printScan('invoice_ruled'), 'application/pdf');
      expect(invoicePdf).to.include({ text: invoice, pages: 1, ocrPages: 1 });
      const { text } = await read(await printScan('cols'), 'application/pdf');
      expect(text).to.match(/^The boat club keeps its rowing boats in\nthe lower shed\./);
      expect(text.indexOf('Visitors may land')).to.be.greaterThan(text.indexOf('box beside the door before dusk.'));
    });

    nightly('is that of the upright page, whichever way the image is turned, with and without EXIF', async () => {
      const page = openScan('invoice_ruled');
      const turned = async (degrees: number) => sharp(await sharp(page).rotate(degrees).png().toBuffer());
      // How a file is decoded does not depend on which way its picture is turned.
      const files: [string, Buffer][] = [
        ['image/png', await (await turned(90)).png().toBuffer()],
        ['image/tiff', await (await turned(180)).tiff({ compression: 'lzw' }).toBuffer()],
        ['image/jpeg', await (await turned(270)).jpeg().toBuffer()],
      ];
      for (const [type, bytes] of files) expect((await read(bytes, type)).text, type).to.equal(invoice);
      const turnedByExif = await sharp(await sharp(page).rotate(-90).toBuffer())
        .withMetadata({ orientation: 6 })
        .jpeg()
        .toBuffer();
      expect((await read(turnedByExif, 'image/jpeg')).text).to.equal(invoice);
      const wrongExif = await sharp(await sharp(page).jpeg().toBuffer())
        .withMetadata({ orientation: 3 })
        .jpeg()
        .toBuffer();
      expect((await read(wrongExif, 'image/jpeg')).text).to.equal(invoice);
    });

    nightly('is read from black and white, faint, small, dark and huge scans', async () => {
      const page = openScan('invoice_ruled');
      const worn: [string, Buffer][] = [
        ['black and white', await sharp(page).greyscale().threshold(128).png({ palette: true, colours: 2 }).toBuffer()],
        [
          'faint',
          await sharp(await sharp(page).greyscale().linear(0.2, 190).png().toBuffer())
            .png()
            .toBuffer(),
        ],
        ['small', await sharp(page).resize({ width: 600 }).png().toBuffer()],
        ['light on dark', await sharp(page).flatten({ background: 'white' }).negate().png().toBuffer()],
        ['huge', await sharp(page).resize({ width: 7_000 }).png().toBuffer()],
      ];
      for (const [name, bytes] of worn) {
        const { text } = await read(bytes);
        // The detector of PP-OCRv4 does not see a single digit in white on black.
        expect(text, name).to.be.oneOf(name === 'light on dark' ? [invoice, invoice.replace('Travel | 1', 'Travel | ')] : [invoice]);
      }
    });

    it('has nothing of a picture without text, and says so if something looked like it', async () => {
      const noise = { type: 'gaussian', mean: 128, sigma: 40 } as const;
      const grain = await sharp({ create: { width: 800, height: 600, channels: 3, background: 'white', noise } })
        .blur(2)
        .jpeg()
        .toBuffer();
      const { text, notices = [], ocrConfidence } = await read(grain, 'image/jpeg');
      expect({ text, ocrConfidence }).to.deep.equal({ text: '', ocrConfidence: undefined });
      for (const { code } of notices) expect(code).to.equal('unsure_text_left_out');
    });

    it('has white print on coloured bands and on nothing, beside dark print', async () => {
      const line = (text: string, y: number, fill: string) => `<text x="60" y="${y}" font-size="34" fill="${fill}">${text}</text>`;
      const draw = (ground: string, body: string) =>
        sharp(
          Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="1000" height="420" font-family="DejaVu Sans">${ground}${body}</svg>`),
        )
          .png()
          .toBuffer();
      const paper = '<rect width="1000" height="420" fill="#fff"/>';
      for (const colour of ['#c00000', '#ed7d31', '#2e75b6', '#70ad47']) {
        const band = `<rect x="40" y="150" width="920" height="64" fill="${colour}"/>`;
        const body = `${line('Delivery note 4471', 90, '#222')}${line('Bolt M8x40 200 0.42 84.00', 194, '#fff')}${line('Total due 78.50 EUR', 320, '#222')}`;
        const { text, notices } = await read(await draw(paper + band, body));
        expect(text, colour).to.match(/^Delivery note 4471\s+Bolt M8x40 200 0\.42 84\.00\s+Total due 78\.50 EUR$/);
        expect(notices, colour).to.equal(undefined);
      }
      const onNothing = await draw('', line('Total due 78.50 EUR', 200, '#fff'));
      expect((await read(onNothing)).text).to.equal('Total due 78.50 EUR');
    });

    it('has the values of a receipt in the row of their names, photographed askew and curved, and unsure text with a notice', async () => {
      const rows = ['Wood screws 4x40|6.49', 'Masking tape 48mm|3.75', 'Paint brush 50mm|8.95', 'TOTAL|19.19'];
      const cells = rows.flatMap((row, index) => {
        const [name = '', value = ''] = row.split('|');
        return [`<text x="40" y="${80 + index * 60}">${name}</text>`, `<text x="520" y="${92 + index * 60}">${value}</text>`];
      });
      const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="700" height="340"><rect width="700" height="340" fill="#f4f1e8"/><g font-family="DejaVu Sans Mono" font-size="30" fill="#333">${cells.join('')}</g></svg>`;
      const receipt = await sharp(Buffer.from(svg))
        .rotate(6, { background: '#4b3a2e' })
        .extend({ left: 200, right: 200, top: 150, bottom: 150, background: '#4b3a2e' })
        .png()
        .toBuffer();
      const { text, notices } = await read(receipt);
      for (const row of rows) expect(text.replace(/[|\s]+/g, ' ')).to.include(row.replace('|', ' '));
      expect(notices).to.equal(undefined);
      const blurred = await read(await sharp(receipt).resize({ width: 440 }).blur(1.6).png().toBuffer());
      expect(blurred.text.replace(/[|\s]+/g, ' ')).to.match(/TOTAL\W* 19\.19/);
      expect(blurred.notices?.map(({ code }) => code)).to.include('unsure_text');
    });
  });
