const mebibyte = 1024 * 1024;

/** What the service itself needs, with the documents that wait for a reader. */
const serviceBytes = 640 * mebibyte;
const full = { reader: 1024 * mebibyte, recognizer: 1536 * mebibyte };
/** On a small machine: enough for ordinary documents and for scanned pages. */
const small = { reader: 512 * mebibyte, recognizer: 768 * mebibyte };

/** The sentence model takes 300 MB once it is loaded, whatever the machine. */
const embedderBytes = 768 * mebibyte;

/** How many children there are of each kind, and the memory that each may have, in bytes. */
export interface PoolBudget {
  readers: number;
  /** One more reader, for an organization that has none at work, if there is the memory. */
  spareReaders: number;
  readerBytes: number;
  recognizers: number;
  recognizerBytes: number;
  embedders: number;
  embedderBytes: number;
  /** The most that all of it may take together. */
  totalBytes: number;
}

export interface BudgetOptions {
  /** The memory that there is, in bytes. */
  limitBytes: number;
  cores: number;
  /** Whether images are read here. */
  recognizes: boolean;
  /** Whether a sentence model embeds here; not, unless it is said. */
  embeds?: boolean;
  /** Numbers that the operator chose; they are not lowered, and do not count for what does not run here. */
  readers?: number | undefined;
  recognizers?: number | undefined;
  embedders?: number | undefined;
}

/**
 * Plans the children so that all of them at their limits fit into the memory: fewer than there are cores, if need be, or smaller ones.
 * Otherwise the kernel would kill one while it reads an innocent document. Undefined if not even the smallest plan fits.
 */
export function planPools({ limitBytes, cores, recognizes, embeds = false, ...chosen }: BudgetOptions): PoolBudget | undefined {
  const { readers, recognizers } = chosen;
  // More processes than concurrent jobs would be idle.
  const most = readers ?? Math.min(4, Math.max(2, cores));
  // Text recognition keeps a core busy for seconds; the other cores stay free for quick requests.
  const mostRecognizers = recognizes ? (recognizers ?? Math.max(1, Math.floor(most / 2))) : 0;
  // It keeps a core busy, as the recognition does. One is enough to serve, so it is not what memory is short for.
  const mostEmbedders = embeds ? (chosen.embedders ?? Math.max(1, Math.floor(cores / 2))) : 0;
  const leastEmbedders = Math.min(chosen.embedders ?? 1, mostEmbedders);
  for (const size of [full, small]) {
    for (let embedders = mostEmbedders; embedders >= leastEmbedders; embedders -= 1) {
      const plan = planReaders(size, { limitBytes: limitBytes - embedders * embedderBytes, most, mostRecognizers, readers, recognizers });
      if (plan)
        return withSpare({ ...plan, embedders, embedderBytes, totalBytes: plan.totalBytes + embedders * embedderBytes }, limitBytes);
    }
  }
  return undefined;
}

function withSpare(plan: Omit<PoolBudget, 'spareReaders'>, limitBytes: number): PoolBudget {
  const totalBytes = plan.totalBytes + plan.readerBytes;
  return totalBytes > limitBytes ? { ...plan, spareReaders: 0 } : { ...plan, spareReaders: 1, totalBytes };
}

interface ReaderOptions {
  limitBytes: number;
  most: number;
  mostRecognizers: number;
  readers: number | undefined;
  recognizers: number | undefined;
}

function planReaders(size: typeof full, { limitBytes, most, mostRecognizers, readers, recognizers }: ReaderOptions) {
  for (let second = mostRecognizers; second >= Math.min(recognizers ?? 1, mostRecognizers); second -= 1) {
    for (let first = most; first >= (readers ?? Math.min(2, most)); first -= 1) {
      const totalBytes = serviceBytes + first * size.reader + second * size.recognizer;
      if (totalBytes > limitBytes) continue;
      return { readers: first, readerBytes: size.reader, recognizers: second, recognizerBytes: size.recognizer, totalBytes };
    }
  }
  return undefined;
}

/** The least memory that {@link planPools} asks for, in bytes. */
export function leastBytes(options: Omit<BudgetOptions, 'limitBytes'>): number {
  const fits = (limitBytes: number) => planPools({ ...options, limitBytes }) !== undefined;
  let bytes = serviceBytes;
  while (!fits(bytes)) bytes += 64 * mebibyte;
  return bytes;
}
