import type { Effort, Figure } from './figure.ts';

/** Judges the service by one public set. `directory` holds the set as it was published. */
export type Judge = (directory: string, effort: Effort) => Promise<Figure[]>;
