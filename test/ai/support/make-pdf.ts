import { deflateSync } from 'node:zlib';
import { assemblePdf } from '../../lab/pdf.ts';

/**
 * A PDF of `pages` pages that all show the same content stream. Small on disk, and as long to read as the stream times the pages: what
 * a slow or a hostile document is made of. `font` has further entries of its font.
 */
export function makePdf(content: string | Buffer, pages = 1, font = ''): Buffer {
  const kids = Array.from({ length: pages }, (_, index) => `${5 + index} 0 R`).join(' ');
  const packed = deflateSync(content, { level: 9 });
  const stream = Buffer.concat([
    Buffer.from(`<< /Length ${packed.length} /Filter /FlateDecode >>\nstream\n`),
    packed,
    Buffer.from('\nendstream'),
  ]);
  const page = '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /Font << /F1 3 0 R >> >> >>';
  return assemblePdf([
    Buffer.from('<< /Type /Catalog /Pages 2 0 R >>'),
    Buffer.from(`<< /Type /Pages /Kids [${kids}] /Count ${pages} >>`),
    Buffer.from(`<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica ${font} >>`),
    stream,
    ...Array.from({ length: pages }, () => Buffer.from(page)),
  ]);
}

/**
 * A PDF of one page of 600 by 800 points. `catalog`, `page`, `resources` and `fonts` are further entries of those; `objects` are numbered from 10 on, and
 * `/F1` is Helvetica.
 */
export function makePdfOf(parts: {
  content: string;
  catalog?: string;
  page?: string;
  resources?: string;
  fonts?: string;
  objects?: string[];
}): Buffer {
  const { content, catalog = '', page = '', resources = '', fonts = '', objects = [] } = parts;
  return assemblePdf(
    [
      `<< /Type /Catalog /Pages 2 0 R ${catalog} >>`,
      '<< /Type /Pages /Kids [5 0 R] /Count 1 >>',
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
      stream('', content),
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /Font << /F1 3 0 R ${fonts} >> ${resources} >> ${page} >>`,
      ...Array(4).fill('null'),
      ...objects,
    ].map((object) => Buffer.from(object, 'latin1')),
  );
}

/** A font whose letters are drawn, but are said to be signs of private use, which mean nothing. */
const privateFont = [
  '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding /ToUnicode 11 0 R >>',
  stream(
    '',
    `/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /P def /CMapType 2 def
1 begincodespacerange <00> <ff> endcodespacerange 1 beginbfrange <20> <ff> <e020> endbfrange endcmap end end`,
  ),
];

/** A PDF of one page with a content stream, and lines of letters that their font does not name. */
export function makeUnmappedPdf(content: string, lines: string[]): Buffer {
  const shown = lines.map((line, row) => `BT /F2 14 Tf 50 ${700 - 20 * row} Td (${line}) Tj ET`);
  return makePdfOf({ content: [content, ...shown].join(' '), objects: privateFont, fonts: '/F2 10 0 R' });
}

/** The text of a stream object whose dictionary has these entries. */
export function stream(entries: string, content: string): string {
  return `<< ${entries} /Length ${content.length} >>\nstream\n${content}\nendstream`;
}

/** A PDF whose pages show one line of text each. */
export function makeTextPdf(line: string, pages = 1): Buffer {
  return makePdf(`BT /F1 12 Tf 50 700 Td (${line}) Tj ET`, pages);
}

/** A PDF that takes minutes to read: a million strokes on each of 400 pages. */
export function makeSlowPdf(): Buffer {
  return makePdf('0 0 m 1 1 l S\n'.repeat(1_000_000), 400);
}
