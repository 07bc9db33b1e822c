import sharp, { type Sharp } from 'sharp';

/** A picture in grey, a byte for each pixel, row by row without gaps; 0 is black. */
export interface Grey {
  data: Uint8Array;
  width: number;
  height: number;
}

/** A part of a picture, in pixels; `right` and `bottom` are outside of it. */
export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** How many degrees clockwise a page is turned. */
export type Quarters = 0 | 90 | 180 | 270;

/** Makes a picture larger or smaller. */
export async function scale(grey: Grey, factor: number): Promise<Grey> {
  const [width, height] = [grey.width, grey.height].map((side) => Math.max(1, Math.round(side * factor))) as [number, number];
  return await toGrey(fromGrey(grey).resize({ width, height, fit: 'fill', kernel: factor > 1 ? 'cubic' : 'lanczos3' }));
}

/** Turns a picture clockwise, by quarters exactly; what is new at its corners is white. */
export async function rotate(grey: Grey, degrees: number): Promise<Grey> {
  return degrees === 0 ? grey : await toGrey(fromGrey(grey).rotate(degrees, { background: 'white' }));
}

/** Where a part of a picture is once that is turned clockwise. */
export function turnBox({ left, top, right, bottom }: Box, { width, height }: Grey, degrees: Quarters): Box {
  if (degrees === 90) return { left: height - bottom, top: left, right: height - top, bottom: right };
  if (degrees === 180) return { left: width - right, top: height - bottom, right: width - left, bottom: height - top };
  if (degrees === 270) return { left: top, top: width - right, right: bottom, bottom: width - left };
  return { left, top, right, bottom };
}

export function invert({ data, width, height }: Grey): Grey {
  return { data: data.map((level) => 255 - level), width, height };
}

/** The level than which half of the pixels are darker. */
export function medianOf({ data }: Grey): number {
  const sample = Uint8Array.from({ length: Math.min(data.length, 10_001) }, (_, n) => data[Math.floor((n * data.length) / 10_001)] ?? 0);
  return sample.sort()[Math.floor(sample.length / 2)] ?? 255;
}

/** Takes speckles out. */
export async function smooth(grey: Grey): Promise<Grey> {
  return await toGrey(fromGrey(grey).median(3));
}

export function crop({ data, width }: Grey, { left, top, right, bottom }: Box): Grey {
  const [wide, high] = [right - left, bottom - top];
  const cut = new Uint8Array(wide * high);
  for (let y = 0; y < high; y += 1) cut.set(data.subarray((top + y) * width + left, (top + y) * width + right), y * wide);
  return { data: cut, width: wide, height: high };
}

/** The picture as a file that the engines read without unpacking (binary PGM). */
export function encodePgm({ data, width, height }: Grey): Buffer {
  return Buffer.concat([Buffer.from(`P5\n${width} ${height}\n255\n`, 'latin1'), data]);
}

/** Decodes a pipeline of sharp. */
export async function toGrey(image: Sharp): Promise<Grey> {
  const { data, info } = await image.toColourspace('b-w').raw({ depth: 'uchar' }).toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  return { data: channels === 1 ? data : data.filter((_level: number, index: number) => index % channels === 0), width, height };
}

function fromGrey({ data, width, height }: Grey): Sharp {
  return sharp(data, { raw: { width, height, channels: 1 } });
}
