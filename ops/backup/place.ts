import type { Readable } from 'node:stream';
import { OpsError } from '../context.ts';

/** Where a backup is, or several: a directory, or a prefix of a bucket. Its files have names such as `tables/job.copy`. */
export interface Place {
  /** As the operator names it. */
  readonly name: string;
  /** A place in this one. */
  in(name: string): Place;
  /** The names of the places in this one. */
  list(): Promise<string[]>;
  /** Makes this place. Throws OpsError if that is not possible, or if there is anything in it. */
  makeEmpty(): Promise<void>;
  /** Stores a file, and resolves once it is kept. After a failure there is none. */
  write(file: string, source: AsyncIterable<Buffer>): Promise<void>;
  /** The bytes of a file. The stream fails with the code ENOENT if there is none. */
  read(file: string): Readable;
  has(file: string): Promise<boolean>;
  remove(file: string): Promise<void>;
  /** Removes everything in this place. */
  clear(): Promise<void>;
  /** Removes a place in this one, with everything in it. */
  removePlace(name: string): Promise<void>;
}

/** Thrown if a place of backups other than a directory cannot be read or written, with a code as the system has for files. */
export class PlaceError extends OpsError {
  readonly code: 'ENOENT' | 'EIO';

  constructor(message: string, code: 'ENOENT' | 'EIO', options: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
