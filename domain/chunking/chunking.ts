/** The size of chunks: how many characters (code points) each has, and how many of them it shares with the one before. */
export interface ChunkSize {
  characters: number;
  overlap: number;
}

/** The default size. */
export const chunkSize: ChunkSize = { characters: 1_200, overlap: 150 };

/** The size for a model that asks for chunks of so many characters. The overlap is the same share of it as by default. */
export function chunkSizeOf(characters: number): ChunkSize {
  return { characters, overlap: Math.floor((characters * chunkSize.overlap) / chunkSize.characters) };
}

/** How many characters of a chunk its context may take: what is put before the text for search. */
export function maxContext({ characters }: ChunkSize): number {
  return Math.floor(characters / 4);
}

/** Raise it with every change of how a text is cut: documents that were cut otherwise are then indexed again. */
const chunkingVersion = 2;

/** The name of how a text is cut: the version of the rules, and the size if it is not the default. */
export function chunkingOf({ characters }: ChunkSize): string {
  return characters === chunkSize.characters ? String(chunkingVersion) : `${chunkingVersion}/${characters}`;
}

/** The size in a name of {@link chunkingOf}. */
export function sizeOfChunking(chunking: string): ChunkSize {
  const [, characters = chunkSize.characters] = chunking.split('/');
  return chunkSizeOf(Number(characters));
}

/** How documents were cut that have no such name. */
export const firstChunking = '1';

/** A document of more chunks than this is not indexed. */
export const maxChunks = 2_000;
