import { crc32, deflateSync } from 'node:zlib';
import { assemblePdf } from './pdf.ts';

interface Bomb {
  contentType: string;
  bytes: Buffer;
}

const inflatedBytes = 256 * 1024 * 1024;

/** A PDF of half a megabyte, whose one page has 256 MiB of content. */
export function pdfBomb(): Bomb {
  const content = deflateSync(Buffer.alloc(inflatedBytes, '0 0 m 9 9 l S\n'));
  const head = `<< /Length ${content.length} /Filter /FlateDecode >>\nstream\n`;
  const objects = [
    Buffer.from('<< /Type /Catalog /Pages 2 0 R >>'),
    Buffer.from('<< /Type /Pages /Kids [3 0 R] /Count 1 >>'),
    Buffer.from('<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R >>'),
    Buffer.concat([Buffer.from(head), content, Buffer.from('\nendstream')]),
  ];
  return { contentType: 'application/pdf', bytes: assemblePdf(objects) };
}

const side = 40_000;

/** A white picture of 1.6 billion pixels in 200 kB. */
export function pngBomb(): Bomb {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  // One bit of gray for each pixel.
  header[8] = 1;
  const rows = deflateSync(Buffer.alloc(side * (1 + side / 8)));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const bytes = Buffer.concat([signature, pngPart('IHDR', header), pngPart('IDAT', rows), pngPart('IEND', Buffer.alloc(0))]);
  return { contentType: 'image/png', bytes };
}

function pngPart(type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const named = Buffer.concat([Buffer.from(type), data]);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}
