/** The size of chunks: how many characters (code points) each has, and how many of them it shares with the one before. */
export interface ChunkSize {
  characters: number;
  overlap: number;
}

/** The default size. */
export const chunkSize: ChunkSize = { characters: 1_200, overlap: 150 };

/** The size for a model that asks for chunks of so many characters. The overlap keeps its default ratio to the size. */
export function chunkSizeOf(characters: number): ChunkSize {
  return { characters, overlap: Math.floor((characters * chunkSize.overlap) / chunkSize.characters) };
}

/** The maximum number of characters for a chunk's context, which is put before its text for search. */
export function maxContext({ characters }: ChunkSize): number {
  return Math.floor(characters / 4);
}

/** Raise it whenever the rules of cutting, or of terms, change: documents of an earlier version are then indexed again. */
const chunkingVersion = 6;

/** The name of a way to cut texts: the version of the rules, and the size if it is not the default. */
export function chunkingOf({ characters }: ChunkSize): string {
  return characters === chunkSize.characters ? String(chunkingVersion) : `${chunkingVersion}/${characters}`;
}

/** The size in a name of {@link chunkingOf}. */
export function sizeOfChunking(chunking: string): ChunkSize {
  const [, characters = chunkSize.characters] = chunking.split('/');
  return chunkSizeOf(Number(characters));
}

/** A document with more chunks is not indexed. */
export const maxChunks = 2_000;
