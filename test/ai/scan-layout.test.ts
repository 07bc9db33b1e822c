import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import PDFDocument from 'pdfkit';
import sharp from 'sharp';
import { renderPdfPage } from '../../ai/formats/pdf/read-pdf.ts';
import { parts } from '../../docs/examples/samples/handbook.ts';
import { nightly } from '../support/nightly.ts';
import { ocrEngines } from './support/ocr-engines.ts';
import { characterErrors, makeScannedPdf, scan } from './support/scan.ts';
import { useAiService } from './support/use-ai-service.ts';

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
const notice = readFileSync('docs/examples/samples/trail-notice.png');
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

/** The scan at some dots per inch, of which each so manieth pixel is black, as a fax is. */
async function speckle(image: Buffer, dotsPerInch: number, every: number): Promise<Buffer> {
  const { width } = await sharp(image).metadata();
  const small = sharp(image).resize({ width: Math.round((width * dotsPerInch) / 200) });
  const { data, info } = await small.greyscale().raw().toBuffer({ resolveWithObject: true });
  let seed = 7;
  for (let index = 0; index < data.length; index += 1) {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
    if ((seed >> 8) % every === 0) data[index] = 0;
  }
  const { width: wide, height, channels } = info;
  return await sharp(data, { raw: { width: wide, height, channels } })
    .png()
    .toBuffer();
}

/** The page as that of an open book: its lines sink towards the fold at its left, by twice the height of one, and come up again. */
async function bend(page: Buffer): Promise<Buffer> {
  const { data, info } = await sharp(page).greyscale().raw().toBuffer({ resolveWithObject: true });
  const { width, height } = info;
  const bent = Buffer.alloc(data.length, 0xf6);
  for (let x = 0; x < width; x += 1) {
    const sunk = Math.round(60 * Math.sin((2.4 * Math.PI * x) / width));
    for (let y = Math.max(0, sunk); y < Math.min(height, height + sunk); y += 1)
      bent[y * width + x] = data[(y - sunk) * width + x] as number;
  }
  return await sharp(bent, { raw: { width, height, channels: 1 } })
    .png()
    .toBuffer();
}

const stock = [
  ['Item', 'Shelf', 'Left', 'Price'],
  ['Rope', '4', '12', '310'],
  ['Paint', '7', '8', '45'],
  ['Lamp', '2', '96', '128'],
];
const marks = [
  ['4', '7', '2', '8'],
  ['9', '3', '6', '4'],
  ['5', '2', '8', '7'],
  ['3', '6', '9', '5'],
];

/** A small table with rules, that thick in points, as a scanner sees it: in 10 points at 150 dots per inch, turned by some degrees. */
async function scanTable(rows: string[][], { turned = 0, rule = 0.75 } = {}): Promise<Buffer> {
  const point = 150 / 72;
  const [size, wide, high, margin] = [10 * point, 48 * point, 17 * point, 14 * point];
  const [columns, lines] = [rows[0]?.length ?? 0, rows.length];
  const rules = [
    ...Array.from({ length: lines + 1 }, (_, n) => `M${margin} ${margin + n * high}h${columns * wide}`),
    ...Array.from({ length: columns + 1 }, (_, n) => `M${margin + n * wide} ${margin}v${lines * high}`),
  ];
  const cells = rows.flatMap((row, line) =>
    row.map((cell, n) => `<text x="${margin + n * wide + 0.5 * size}" y="${margin + (line + 0.5) * high + 0.36 * size}">${cell}</text>`),
  );
  const [width, height] = [columns * wide + 2 * margin, lines * high + 2 * margin].map(Math.round);
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="100%" height="100%" fill="#f6f5f0"/>
<path d="${rules.join('')}" fill="none" stroke="#333" stroke-width="${rule * point}"/>
<g font-family="DejaVu Sans" font-size="${size}" fill="#222">${cells.join('')}</g></svg>`;
  const straight = await sharp(Buffer.from(svg)).blur(0.6).removeAlpha().png().toBuffer();
  return await sharp(straight).rotate(turned, { background: '#f6f5f0' }).jpeg({ quality: 75 }).toBuffer();
}

/** The text of the sample handbook in lines as long as those of a page. */
const lines = parts
  .map((part) => (part.kind === 'paragraph' ? part.text : ''))
  .join(' ')
  .match(/\S.{0,78}\S(?=\s|$)/g)
  ?.slice(0, 8) as string[];

/** No more than a share of the characters is wrong. */
function expectFewErrors(text: string, share: number): void {
  const errors = characterErrors(text, lines.join(' '));
  expect(errors, `${(errors * 100).toFixed(2)} % of the characters are wrong`).to.be.below(share);
}

for (const { engine, env } of ocrEngines)
  describe(`The layout of an image, by ${engine}`, () => {
    // A page may be read several times, and nothing is tried for which there is no time.
    const timeouts = { OCR_TIMEOUT_SECONDS: '500', EXTRACT_TIMEOUT_SECONDS: '500' };
    const service = useAiService({ OCR_PROVIDER: 'local', OCR_SCANNED_PDF: 'true', ...timeouts, ...env });
    const extract = (body: Buffer, contentType = 'image/png') => service.client.extract({ body, contentType, seconds: 500 });

    it('has every row of a table with rules, also of the page of a PDF', async () => {
      const read = await extract(await printScan('invoice_ruled'), 'application/pdf');
      expect(read).to.include({ text: invoice, pages: 1, ocrPages: 1 });
    });

    nightly('has columns one after the other', async () => {
      const { text, ocrConfidence } = await extract(openScan('cols'));
      expect(text).to.match(/^The boat club keeps its rowing boats in\nthe lower shed\./);
      expect(text.indexOf('Visitors may land')).to.be.greaterThan(text.indexOf('box beside the door before dusk.'));
      expect(ocrConfidence?.[0]).to.be.within(85, 100);
    });

    /** What recognition reads in the box of the line that has some words, in a picture of the page. */
    async function readIn(picture: Buffer, body: Buffer, contentType: string, words: RegExp): Promise<string> {
      const { text, outline } = await extract(body, contentType);
      const said = outline.lines?.find(([start, end]) => words.test(text.slice(start, end)));
      expect(said, JSON.stringify(outline.lines)).to.not.equal(undefined);
      const [, , ...box] = said as [number, number, number, number, number, number];
      const { width = 0, height = 0 } = await sharp(picture).metadata();
      const [x, y, wide, high] = box.map((share, index) => Math.round((share / 10_000) * (index % 2 === 0 ? width : height)));
      const part = sharp(picture).extract({ left: x as number, top: y as number, width: wide as number, height: high as number });
      // By the paper's own colour: an edge would be read as a letter.
      const framed = part.flatten({ background: 'white' }).extend({ top: 40, bottom: 40, left: 40, right: 40, extendWith: 'copy' });
      return (await extract(await framed.png().toBuffer())).text;
    }

    nightly('has its lines where their boxes say, also of a picture that lies on its side', async () => {
      for (const degrees of [0, 90, 180]) {
        const turned = await sharp(notice).rotate(degrees).png().toBuffer();
        const read = await readIn(turned, turned, 'image/png', /suspension bridge/);
        expect(read, `${degrees}°`)
          .to.match(/suspension bridge/)
          .and.not.match(/NOTICE|14 September/);
      }
    });

    it('has its lines where they stand on the page of a PDF', async () => {
      const body = await makeScannedPdf([
        { text: 'A typed cover sheet.' },
        { scan: ['The lease ends in March.', '', '', 'The rent is due.'] },
      ]);
      const page = Buffer.from(await renderPdfPage(body, 1, false));
      expect(await readIn(page, body, 'application/pdf', /rent/)).to.equal('The rent is due.');
    });

    nightly('has every row of a table without rules, with thick ones, alone, and of one that is askew', async () => {
      expect((await extract(openScan('invoice_plain'))).text).to.equal(invoice);
      const flat = sharp(openScan('tab_lines')).flatten({ background: 'white' }).greyscale();
      const thick = await sharp(await flat.png().toBuffer())
        .dilate(1)
        .png()
        .toBuffer();
      expect((await extract(thick)).text.replace(/\s/g, '')).to.equal(departures.replace(/\s/g, ''));
      const askew = await sharp(openScan('invoice_ruled')).rotate(4, { background: 'white' }).png().toBuffer();
      expect((await extract(askew)).text).to.equal(invoice);
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
      for (const [type, bytes] of files) expect((await extract(bytes, type)).text, type).to.equal(invoice);
      const turnedByExif = await sharp(await sharp(page).rotate(-90).toBuffer())
        .withMetadata({ orientation: 6 })
        .jpeg()
        .toBuffer();
      expect((await extract(turnedByExif, 'image/jpeg')).text).to.equal(invoice);
      const wrongExif = await sharp(await sharp(page).jpeg().toBuffer())
        .withMetadata({ orientation: 3 })
        .jpeg()
        .toBuffer();
      expect((await extract(wrongExif, 'image/jpeg')).text).to.equal(invoice);
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
        const { text } = await extract(bytes);
        // The detector of PP-OCRv4 does not see a single digit in white on black.
        expect(text, name).to.be.oneOf(name === 'light on dark' ? [invoice, invoice.replace('Travel | 1', 'Travel | ')] : [invoice]);
      }
    });

    it('has nothing of a picture without text, and says so if something looked like it', async () => {
      const noise = { type: 'gaussian', mean: 128, sigma: 40 } as const;
      const grain = await sharp({ create: { width: 400, height: 300, channels: 3, background: 'white', noise } })
        .blur(2)
        .jpeg()
        .toBuffer();
      const { text, notices = [], ocrConfidence } = await extract(grain, 'image/jpeg');
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
      for (const colour of process.env.TEST_NIGHTLY ? ['#c00000', '#ed7d31', '#2e75b6', '#70ad47'] : ['#c00000']) {
        const band = `<rect x="40" y="150" width="920" height="64" fill="${colour}"/>`;
        const body = `${line('Delivery note 4471', 90, '#222')}${line('Bolt M8x40 200 0.42 84.00', 194, '#fff')}${line('Total due 78.50 EUR', 320, '#222')}`;
        const { text, notices } = await extract(await draw(paper + band, body));
        expect(text, colour).to.match(/^Delivery note 4471\s+Bolt M8x40 200 0\.42 84\.00\s+Total due 78\.50 EUR$/);
        expect(notices, colour).to.equal(undefined);
      }
      const onNothing = await draw('', line('Total due 78.50 EUR', 200, '#fff'));
      expect((await extract(onNothing)).text).to.equal('Total due 78.50 EUR');
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
      const { text, notices } = await extract(receipt);
      for (const row of rows) expect(text.replace(/[|\s]+/g, ' ')).to.include(row.replace('|', ' '));
      expect(notices).to.equal(undefined);
      const blurred = await extract(await sharp(receipt).resize({ width: 440 }).blur(1.6).png().toBuffer());
      expect(blurred.text.replace(/[|\s]+/g, ' ')).to.match(/TOTAL\W* 19\.19/);
      expect(blurred.notices?.map(({ code }) => code)).to.include('unsure_text');
    });

    nightly('is that of a page that bends, as one of an open book does', async () => {
      const { text, notices } = await extract(await bend(await scan(lines)));
      expectFewErrors(text, 0.02);
      expect(text.match(/\S.*/g), text).to.have.length(lines.length);
      expect(notices).to.equal(undefined);
    });

    for (const turned of [90, 180, 270] as const) {
      nightly(`is read upright in a PDF, turned by ${turned} degrees`, async () => {
        const body = await makeScannedPdf([{ scan: lines, turned }]);
        const { text, ocrConfidence } = await extract(body, 'application/pdf');
        expectFewErrors(text, 0.01);
        expect(ocrConfidence?.[0]).to.be.within(80, 100);
      });

      nightly(`is read upright, turned by ${turned} degrees`, async () => {
        const { text } = await extract(await scan(lines, { turned }), 'image/jpeg');
        expectFewErrors(text, 0.01);
      });
    }

    nightly('is turned page by page, and each has its confidence', async () => {
      const body = await makeScannedPdf([{ text: 'Typed.' }, { scan: lines }, 'blank', { scan: lines, turned: 180 }]);
      const { text, ocrConfidence } = await extract(body, 'application/pdf');
      expect(text.split(lines[0]?.slice(0, 40) ?? '')).to.have.length(3);
      expect(ocrConfidence?.map((one) => one !== null && one > 80)).to.deep.equal([false, true, false, true]);
      expect([ocrConfidence?.[0], ocrConfidence?.[2]]).to.deep.equal([null, null]);
    });

    nightly('is left as it is if no turn is better: noise, and print that is hard to read', async () => {
      const noise = await sharp({
        create: { width: 240, height: 240, channels: 3, background: 'white', noise: { type: 'gaussian', mean: 128, sigma: 60 } },
      })
        .jpeg()
        .toBuffer();
      expect(await extract(noise, 'image/jpeg')).to.include({ pages: 1 });
      const faint = await sharp(await scan(lines))
        .resize({ width: 620 })
        .blur(0.8)
        .jpeg({ quality: 40 })
        .toBuffer();
      const { text } = await extract(faint, 'image/jpeg');
      expect(text).to.match(/observator/i);
    });

    for (const [dotsPerInch, every] of [
      [200, 20],
      [100, 300],
    ] as const)
      nightly(`is that of speckled print at ${dotsPerInch} dots per inch, with one pixel of ${every} in black`, async () => {
        const body = await speckle(await scan(lines), dotsPerInch, every);
        const { text, ocrConfidence } = await extract(body);
        expectFewErrors(text, 0.04);
        expect(ocrConfidence?.[0]).to.be.within(85, 100);
      });

    for (const turned of [-4, -2, 1, 3, 5])
      nightly(`has the cells of a small table, of which two at most are read wrongly, turned by ${turned} degrees`, async () => {
        for (const rows of [stock, marks]) {
          const { text, ocrConfidence } = await extract(await scanTable(rows, { turned }), 'image/jpeg');
          const read = text.split('\n').map((line) =>
            line
              .split('|')
              .slice(1, -1)
              .map((cell) => cell.trim()),
          );
          expect(
            read.map((row) => row.length),
            text,
          ).to.deep.equal([4, 4, 4, 4]);
          const wrong = rows.flat().filter((cell, n) => read.flat()[n] !== cell);
          expect(wrong.length, `${wrong} in ${text}`).to.be.at.most(2);
          expect(ocrConfidence?.[0], text).to.be.within(75, 100);
        }
      });
  });
