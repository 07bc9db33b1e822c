import { type Model, runModel } from './models.ts';
import { edit, type Picture, type Strip } from './picture.ts';
import { findRegions } from './text-regions.ts';

/** The picture that the detector gets, in pixels: the minimum of its shorter side, and the maximum in all. */
const shorterSide = 736;
const maxPixels = 2_500_000;
/** Its sides are multiples of this. */
const grain = 32;

/** Where the lines of text of a picture are, from the detector of PP-OCR. */
export async function findLines(picture: Picture, detector: Model): Promise<Strip[]> {
  const { width, height } = picture;
  const enlarged = Math.max(1, shorterSide / Math.min(width, height));
  const factor = Math.min(enlarged, Math.sqrt(maxPixels / (width * height)));
  // Nothing can be read in a strip so thin, and the grain would make it many times as large.
  if (Math.min(width, height) * factor < grain / 2) return [];
  const [wide, high] = [width, height].map((side) => Math.max(1, Math.round((side * factor) / grain)) * grain) as [number, number];
  const seen = await edit(picture, (image) => image.resize({ width: wide, height: high, fit: 'fill', kernel: 'linear' }));
  const { data } = await runModel(detector, seen);
  const [across, down] = [width / wide, height / high];
  const scale = Math.sqrt(across * down);
  return findRegions({ data, width: wide, height: high }).map(({ x, y, angle, bend, ...size }) => ({
    x: x * across,
    y: y * down,
    angle,
    width: size.width * scale,
    height: size.height * scale,
    ...(bend && { bend: { from: bend.from * scale, step: bend.step * scale, offsets: bend.offsets.map((offset) => offset * scale) } }),
  }));
}
