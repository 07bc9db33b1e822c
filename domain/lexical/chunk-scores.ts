/** Arrays that are larger together are left to the garbage collector: a workspace of a million documents must not hold memory for good. */
const mostSpareBytes = 16 * 1_048_576;
const mostSpare = 2;
const spare: Arrays[] = [];

interface Arrays {
  /** Where a document is among `numbers`, plus one, by the hash of its number; 0 is nowhere. Their count is a power of two. */
  places: Int32Array;
  /** Of each document its number, and where its scores begin and how many it has room for. */
  numbers: Float64Array;
  starts: Int32Array;
  rooms: Int32Array;
  scores: Float64Array;
}

/**
 * The scores of chunks by the number of their document and their index. They are in arrays that the next search uses again: a map of them
 * would be garbage of some megabytes after each search, which delays every request while it is collected.
 */
export class ChunkScores {
  #arrays: Arrays;
  #documents = 0;
  #used = 0;

  constructor() {
    this.#arrays = spare.pop() ?? {
      places: new Int32Array(2_048),
      numbers: new Float64Array(1_024),
      starts: new Int32Array(1_024),
      rooms: new Int32Array(1_024),
      scores: new Float64Array(8_192),
    };
  }

  /** How many documents have scores. */
  get documents(): number {
    return this.#documents;
  }

  /** All scores. Another array after {@link reserve}. */
  get scores(): Float64Array {
    return this.#arrays.scores;
  }

  /** Makes room for so many chunks of a document, and returns where its scores begin. Those that it had may have moved there. */
  reserve(number: number, chunks: number): number {
    const document = this.#find(number) ?? this.#add(number);
    const { starts, rooms } = this.#arrays;
    const room = rooms[document] as number;
    if (room >= chunks) return starts[document] as number;
    const from = starts[document] as number;
    const start = this.#used;
    this.#used += chunks;
    if (this.#used > this.#arrays.scores.length) this.#arrays.scores = enlarged(this.#arrays.scores, this.#used);
    this.#arrays.scores.copyWithin(start, from, from + room);
    starts[document] = start;
    rooms[document] = chunks;
    return start;
  }

  /** The score of a chunk; 0 if it has none. */
  scoreOf(number: number, index: number): number {
    const document = this.#find(number);
    if (document === undefined || index >= (this.#arrays.rooms[document] as number)) return 0;
    return this.#arrays.scores[(this.#arrays.starts[document] as number) + index] as number;
  }

  /** The document at a place, in the order in which they came: its number, and where its scores begin and end. */
  at(place: number): { number: number; start: number; end: number } {
    const { numbers, starts, rooms } = this.#arrays;
    const start = starts[place] as number;
    return { number: numbers[place] as number, start, end: start + (rooms[place] as number) };
  }

  /** Gives the arrays to the next search. Nothing is to be asked or added afterwards. */
  release(): void {
    const arrays = this.#arrays;
    this.#arrays = { ...arrays, scores: new Float64Array(0), places: new Int32Array(1) };
    const bytes = Object.values(arrays).reduce((sum, { byteLength }) => sum + byteLength, 0);
    if (spare.length >= mostSpare || bytes > mostSpareBytes) return;
    arrays.places.fill(0);
    arrays.scores.fill(0, 0, this.#used);
    spare.push(arrays);
  }

  #find(number: number): number | undefined {
    const { places, numbers } = this.#arrays;
    for (let at = this.#hash(number); ; at = (at + 1) & (places.length - 1)) {
      const place = places[at] as number;
      if (place === 0) return undefined;
      if (numbers[place - 1] === number) return place - 1;
    }
  }

  #add(number: number): number {
    if (this.#documents === this.#arrays.numbers.length) this.#enlarge();
    const document = this.#documents++;
    this.#arrays.numbers[document] = number;
    this.#arrays.starts[document] = 0;
    this.#arrays.rooms[document] = 0;
    this.#place(document);
    return document;
  }

  #place(document: number): void {
    const { places, numbers } = this.#arrays;
    let at = this.#hash(numbers[document] as number);
    while (places[at] !== 0) at = (at + 1) & (places.length - 1);
    places[at] = document + 1;
  }

  /** Numbers that follow each other are spread, and twice as many places as documents keep the way to each short. */
  #hash(number: number): number {
    return (Math.imul(number, 0x9e3779b1) >>> 8) & (this.#arrays.places.length - 1);
  }

  #enlarge(): void {
    const { numbers, starts, rooms } = this.#arrays;
    const size = 2 * numbers.length;
    this.#arrays.numbers = enlarged(numbers, size);
    this.#arrays.starts = enlarged(starts, size);
    this.#arrays.rooms = enlarged(rooms, size);
    this.#arrays.places = new Int32Array(2 * size);
    for (let document = 0; document < this.#documents; document++) this.#place(document);
  }
}

/** A copy with room for as many, and at least twice as many as before. */
function enlarged<Values extends Float64Array | Int32Array>(values: Values, length: number): Values {
  const larger = new (values.constructor as new (length: number) => Values)(Math.max(length, 2 * values.length));
  larger.set(values);
  return larger;
}
