import PDFDocument from 'pdfkit';
import { parts } from '../../../../docs/examples/samples/handbook.ts';

const prose = parts.flatMap((part) => (part.kind === 'paragraph' ? [part.text] : []));
const heads = ['Korvid Ridge Reports', 'On nights and lamps'];

/**
 * A paper in two columns, with a running header on each side, numbers of pages, and words that line ends part; and what a person would read in
 * it, in that order, running headers once.
 */
export async function makePaper(): Promise<{ bytes: Buffer; text: string }> {
  const info = { CreationDate: new Date('2024-05-01T00:00:00Z') };
  const document = new PDFDocument({ size: 'A4', margin: 60, bufferPages: true, info });
  document.font('Times-Roman').fontSize(11).text(prose.map(hyphenate).join('\n\n'), { columns: 2, columnGap: 24, lineGap: 1 });
  const { count } = document.bufferedPageRange();
  for (let page = 0; page < count; page += 1) {
    document.switchToPage(page);
    document.page.margins = { top: 0, bottom: 0, left: 0, right: 0 };
    document.fontSize(9).text(heads[page % 2] ?? '', 60, 30, { lineBreak: false });
    document.text(String(page + 101), 290, 810, { lineBreak: false });
  }
  document.end();
  return { bytes: Buffer.concat(await document.toArray()), text: [...heads, ...prose].join('\n') };
}

/** With a hyphen and a line end within some words, as a typesetter leaves them. */
function hyphenate(text: string): string {
  return text.replace(/(?<=\s)([a-z]{5})([a-z]{4,})(?=\s)/g, (word, start: string, end: string, at: number) =>
    at % 5 === 0 ? `${start}-\n${end}` : word,
  );
}
