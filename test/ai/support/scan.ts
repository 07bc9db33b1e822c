import PDFDocument from 'pdfkit';
import sharp from 'sharp';

const widthPoints = 595;
const heightPoints = 842;
/** An office scanner's usual resolution. */
const pixelsPerPoint = 200 / 72;

/**
 * A page of a PDF: a scan of some lines of text in 11 points or another size, the text itself, nothing, or a scan that is too narrow to have a
 * pixel. A scan may be `rotated` with a page that turns it back, or `turned`, in degrees clockwise, as the paper lay in the scanner. A `stamp` is text of
 * the page upon the scan, which may be `wide`, as a share of the page.
 */
export type ScanPage =
  | { scan: string[]; points?: number; rotated?: boolean; turned?: 90 | 180 | 270; stamp?: string; wide?: number }
  | { text: string }
  | 'blank'
  | 'narrow';

/**
 * A PDF as a scanner makes it: its pages are JPEG images of text, a little askew and not quite white. The paper ends below the last line: the
 * fewer pixels, the less there is to read.
 */
export async function makeScannedPdf(pages: ScanPage[]): Promise<Buffer> {
  const document = new PDFDocument({ autoFirstPage: false, margin: 0 });
  for (const page of pages) {
    const size = sizeOf(page);
    document.addPage({ size, margin: 0 });
    if (page === 'blank') continue;
    if (page === 'narrow') {
      document.image(await scan(['Nobody reads this.']), 0, 0, { width: size[0], height: size[1] });
      continue;
    }
    if ('text' in page) {
      document.fontSize(12).text(page.text, 50, 50);
      continue;
    }
    if (page.rotated) Object.assign(document.page.dictionary.data, { Rotate: 90 });
    document.image(await toAddress(page), 0, 0, { width: size[0] * (page.wide ?? 1), height: size[1] * (page.wide ?? 1) });
    if (page.stamp !== undefined) document.fontSize(8).text(page.stamp, 20, 10);
  }
  document.end();
  return Buffer.concat(await document.toArray());
}

function sizeOf(page: ScanPage): [width: number, height: number] {
  if (page === 'narrow') return [0.1, heightPoints];
  if (page === 'blank' || 'text' in page) return [widthPoints, heightPoints];
  return page.turned === 90 || page.turned === 270 ? [heightPoints, widthPoints] : [widthPoints, paperOf(page)];
}

function paperOf({ scan: lines, points = 11, rotated, turned }: Extract<ScanPage, { scan: string[] }>): number {
  return rotated || turned ? heightPoints : Math.min(heightPoints, 140 + lines.length * points * 1.45);
}

/** Most tests show the same few pages. */
const addresses = new Map<string, string>();

/** The scan of a page, as an address that holds it. Pages with the same address share one image in a PDF. */
async function toAddress(page: Extract<ScanPage, { scan: string[] }>): Promise<string> {
  const { scan: lines, points, rotated, turned } = page;
  const look = JSON.stringify([lines, points, rotated, turned]);
  const known = addresses.get(look);
  if (known !== undefined) return known;
  const image = await scan(lines, { points, turned, height: paperOf(page) });
  const shown = rotated ? await sharp(image).rotate(-90).toBuffer() : image;
  const address = `data:image/jpeg;base64,${shown.toString('base64')}`;
  addresses.set(look, address);
  return address;
}

interface ScanOptions {
  points?: number | undefined;
  turned?: number | undefined;
  height?: number;
}

/** A page of lines, A4 or less high, as a scanner sees it, as a JPEG. */
export async function scan(lines: string[], { points = 11, turned = 0, height: paper = heightPoints }: ScanOptions = {}): Promise<Buffer> {
  const [width, height] = [Math.round(widthPoints * pixelsPerPoint), Math.round(paper * pixelsPerPoint)];
  const size = points * pixelsPerPoint;
  const rows = lines.map(
    (line, index) => `<text x="${60 * pixelsPerPoint}" y="${80 * pixelsPerPoint + index * size * 1.45}">${escapeXml(line)}</text>`,
  );
  const font = `font-family="DejaVu Serif, serif" font-size="${size}" fill="#222"`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="100%" height="100%" fill="#f6f5f0"/>
<g ${font} transform="rotate(0.4 ${width / 2} ${height / 2})">${rows.join('')}</g></svg>`;
  return await sharp(await sharp(Buffer.from(svg)).blur(0.6).png().toBuffer())
    .rotate(turned)
    .jpeg({ quality: 60 })
    .toBuffer();
}

/** A line of text on a white picture, the smallest that is read surely, as a PNG. */
export function drawLine(line: string): Promise<Buffer> {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="480" height="80"><rect width="100%" height="100%" fill="white"/>
<text x="20" y="50" font-family="DejaVu Serif, serif" font-size="28">${escapeXml(line)}</text></svg>`;
  return sharp(Buffer.from(svg)).png().toBuffer();
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

/** Wrong characters of a text that was read, as a share of those that were meant: edit distance, white space aside. */
export function characterErrors(read: string, meant: string): number {
  const [a, b] = [read, meant].map((text) => [...text.replace(/\s+/g, ' ').trim()]) as [string[], string[]];
  let row = b.map((_, index) => index + 1);
  for (const [i, character] of a.entries()) {
    let diagonal = i;
    let left = i + 1;
    row = row.map((above, j) => {
      const cost = Math.min(above + 1, left + 1, diagonal + (character === b[j] ? 0 : 1));
      diagonal = above;
      left = cost;
      return cost;
    });
  }
  return (row.at(-1) ?? a.length) / b.length;
}
