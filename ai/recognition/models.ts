import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type InferenceSession, Tensor } from 'onnxruntime-node';
import { loadOnnx } from '../load-onnx.ts';
import { charactersIn } from './model-characters.ts';
import type { Picture } from './picture.ts';

export type Model = InferenceSession;

/** The models of PP-OCR's family: they find lines, tell whether one is upside down, and read it. */
export interface Models {
  detector: Model;
  direction: Model;
  recognizer: Model;
  /** What each class of the recognizer stands for; the first is nothing. */
  characters: string[];
}

/**
 * Loads the models of a directory: the only files `*det*.onnx`, `*cls*.onnx` and `*rec*.onnx`. The recognizer has its characters, or a file
 * `*.txt` has them, one a line. Rejects if one is missing or damaged.
 */
export async function loadModels(directory: string): Promise<Models> {
  const names = await readdir(directory);
  const read = async (kind: string, ending: string) => {
    const name = names.find((one) => one.includes(kind) && one.endsWith(ending));
    if (name === undefined) throw new Error(`there is no model *${kind}*${ending} in ${directory}`);
    return await readFile(join(directory, name));
  };
  const [detector, direction, recognizer] = await Promise.all([read('det', '.onnx'), read('cls', '.onnx'), read('rec', '.onnx')]);
  const characters = charactersIn(recognizer) ?? (await read('', '.txt')).toString('utf8');
  return {
    detector: await loadOnnx(detector),
    direction: await loadOnnx(direction),
    recognizer: await loadOnnx(recognizer),
    characters: ['', ...characters.replace(/\r?\n$/, '').split(/\r?\n/), ' '],
  };
}

/** What a model makes of a picture: numbers, and their dimensions. Levels go from -1 to 1, in blue, green, red, as it was trained. */
export async function runModel(model: Model, { data, width, height }: Picture): Promise<{ data: Float32Array; dims: readonly number[] }> {
  const plane = width * height;
  const input = new Float32Array(plane * 3);
  for (let at = 0; at < plane; at += 1) {
    for (let channel = 0; channel < 3; channel += 1) input[(2 - channel) * plane + at] = (data[at * 3 + channel] as number) / 127.5 - 1;
  }
  const [name = ''] = model.inputNames;
  const [output] = Object.values(await model.run({ [name]: new Tensor('float32', input, [1, 3, height, width]) }));
  return output as { data: Float32Array; dims: readonly number[] } & Tensor;
}
