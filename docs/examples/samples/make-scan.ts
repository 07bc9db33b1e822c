import { writeFile } from 'node:fs/promises';
import sharp from 'sharp';

// Draws docs/examples/samples/trail-notice.png, an image with text for the OCR: `node docs/examples/samples/make-scan.ts`. The fonts
// are those of the machine, so the bytes may differ between machines; the words do not.
const lines = [
  'NOTICE TO HIKERS',
  'The suspension bridge at Gorse Hollow is closed',
  'for repairs until 14 September.',
  'Follow the yellow arrows to the ford.',
  'Do not cross after heavy rain.',
  'Ranger station: cabin 9, open 08:00 to 18:00',
];

const text = lines.map((line, index) => `<text x="60" y="${90 + index * 62}" font-size="${index === 0 ? 40 : 32}">${line}</text>`).join('');
const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="1000" height="460"><rect width="100%" height="100%" fill="#fdfcf5"/>
<g font-family="DejaVu Serif, serif" fill="#222">${text}</g></svg>`;
const png = await sharp(Buffer.from(svg)).greyscale().png({ compressionLevel: 9, palette: true, colours: 16 }).toBuffer();
await writeFile(new URL('./trail-notice.png', import.meta.url), png);
