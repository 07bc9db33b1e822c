import sharp, { type Sharp } from 'sharp';

/** A picture in colour: three bytes for each pixel (red, green, blue), row by row without gaps. */
export interface Picture {
  data: Uint8Array;
  width: number;
  height: number;
}

/** A box of a picture that may lean: the corner where a line of text in it begins, the direction in which it runs, and its size in pixels. */
export interface Strip {
  x: number;
  y: number;
  /** In radians, clockwise; 0 runs to the right. */
  angle: number;
  width: number;
  height: number;
  /** Offsets of a bent line from the middle, across it: the first at `from` along the strip, the others a `step` apart. */
  bend?: { from: number; step: number; offsets: number[] };
}

/** The point of a picture at a distance along a strip, and across it, in pixels. */
export function pointOf(strip: Strip, along: number, across: number): { x: number; y: number } {
  const [cos, sin] = [Math.cos(strip.angle), Math.sin(strip.angle)];
  const off = across + bendAt(strip, along);
  return { x: strip.x + along * cos - off * sin, y: strip.y + along * sin + off * cos };
}

/** The offset of a bend at a distance along its strip, in pixels: linear between its places, and beyond them. */
function bendAt({ bend }: Strip, along: number): number {
  if (!bend) return 0;
  const place = (along - bend.from) / bend.step;
  const at = Math.max(0, Math.min(bend.offsets.length - 2, Math.floor(place)));
  const [before, after] = bend.offsets.slice(at, at + 2) as [number, number];
  return before + (after - before) * (place - at);
}

/** The same box, read from another side: turned clockwise by quarters, and straight. */
export function turnStrip(strip: Strip, quarters: number): Strip {
  const { bend: _, ...straight } = strip;
  const { angle, width, height } = straight;
  const times = ((quarters % 4) + 4) % 4;
  if (times === 0) return strip;
  const corner = pointOf(straight, width, 0);
  return turnStrip({ ...corner, angle: angle + Math.PI / 2, width: height, height: width }, times - 1);
}

/** Cuts a strip out, scaled to a height in pixels. Averages pixels where it becomes smaller. */
export function cutStrip(picture: Picture, strip: Strip, height: number): Picture {
  const scale = strip.height / height;
  const width = Math.max(1, Math.round(strip.width / scale));
  const data = new Uint8Array(width * height * 3);
  const samples = Math.max(1, Math.min(4, Math.round(scale)));
  const [cos, sin] = [(Math.cos(strip.angle) * scale) / samples, (Math.sin(strip.angle) * scale) / samples];
  const bends = Array.from({ length: width * samples }, (_, at) => (bendAt(strip, ((at + 0.5) * scale) / samples) * samples) / scale);
  const sum = [0, 0, 0] as [number, number, number];
  for (let row = 0; row < height; row += 1) {
    for (let column = 0; column < width; column += 1) {
      sum.fill(0);
      for (let down = 0; down < samples; down += 1) {
        for (let right = 0; right < samples; right += 1) {
          const at = column * samples + right;
          const [along, across] = [at + 0.5, row * samples + down + 0.5 + (bends[at] as number)];
          addPixel(sum, picture, strip.x + along * cos - across * sin - 0.5, strip.y + along * sin + across * cos - 0.5);
        }
      }
      const at = (row * width + column) * 3;
      for (let channel = 0; channel < 3; channel += 1) data[at + channel] = Math.round((sum[channel] as number) / samples ** 2);
    }
  }
  return { data, width, height };
}

/** Widens a picture with grey at its right. */
export function widen({ data, width, height }: Picture, wide: number): Picture {
  const wider = new Uint8Array(wide * height * 3).fill(127);
  for (let row = 0; row < height; row += 1) wider.set(data.subarray(row * width * 3, (row + 1) * width * 3), row * wide * 3);
  return { data: wider, width: wide, height };
}

/** Adds the colour at a place between pixels; beyond the edge it is that of the edge. */
function addPixel(sum: number[], { data, width, height }: Picture, x: number, y: number): void {
  const [left, top] = [Math.floor(x), Math.floor(y)];
  const [u, v] = [x - left, y - top];
  const [x0, x1] = [clamp(left, width) * 3, clamp(left + 1, width) * 3];
  const [y0, y1] = [clamp(top, height) * width * 3, clamp(top + 1, height) * width * 3];
  for (let channel = 0; channel < 3; channel += 1) {
    const upper = (data[y0 + x0 + channel] as number) * (1 - u) + (data[y0 + x1 + channel] as number) * u;
    const lower = (data[y1 + x0 + channel] as number) * (1 - u) + (data[y1 + x1 + channel] as number) * u;
    sum[channel] = (sum[channel] as number) + upper * (1 - v) + lower * v;
  }
}

function clamp(at: number, size: number): number {
  return Math.min(size - 1, Math.max(0, at));
}

/** Runs a pipeline of sharp on a picture. */
export async function edit({ data, width, height }: Picture, how: (image: Sharp) => Sharp): Promise<Picture> {
  const image = how(sharp(data, { raw: { width, height, channels: 3 } }));
  const { data: made, info } = await image.raw().toBuffer({ resolveWithObject: true });
  return { data: made, width: info.width, height: info.height };
}
