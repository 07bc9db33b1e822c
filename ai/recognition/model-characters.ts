/** The number of a model's notes in its file, and those of a note's name and value (onnx.proto: `metadata_props`). */
const fields = { notes: 14, name: 1, value: 2 };

/** The characters that a recognizer names in the notes of its file, one a line; undefined if it has none. */
export function charactersIn(file: Buffer): string | undefined {
  for (const note of fieldsOf(file, fields.notes)) {
    const [[name], [value]] = [fieldsOf(note, fields.name), fieldsOf(note, fields.value)];
    if (name?.toString('utf8') === 'character') return value?.toString('utf8');
  }
  return undefined;
}

/** The fields of a message of Protocol Buffers with a number that hold bytes. */
function fieldsOf(message: Buffer, number: number): Buffer[] {
  const found: Buffer[] = [];
  let at = 0;
  const readNumber = () => {
    let [value, factor, byte] = [0, 1, 0];
    do {
      byte = message[at] ?? 0;
      at += 1;
      value += (byte & 127) * factor;
      factor *= 128;
    } while (byte > 127);
    return value;
  };
  while (at < message.length) {
    const tag = readNumber();
    const kind = tag % 8;
    if (kind === 0) readNumber();
    else if (kind === 1) at += 8;
    else if (kind === 5) at += 4;
    else if (kind === 2) {
      const length = readNumber();
      if (Math.floor(tag / 8) === number) found.push(message.subarray(at, at + length));
      at += length;
    } else throw new Error('the file of a model is damaged');
  }
  return found;
}
