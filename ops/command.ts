import type { Client } from '@temporalio/client';
import type { OpsConfig } from '../config/ops.ts';
import type { Db } from '../db/connect.ts';

/** What a command works with. Nothing connects before it is used. */
export interface OpsContext {
  config: OpsConfig;
  db: Db;
  temporal: Client;
  /** Writes a line to standard output. */
  print(line: string): void;
}

/** One command of `npm run ops`. */
export interface Command {
  /** The name and its arguments, as the usage text shows them: `grant-admin EMAIL`. */
  usage: string;
  /** What it does, in one line. */
  summary: string;
  /** Throws {@link UsageError} for arguments that it does not understand, {@link OpsError} where it cannot do what was asked. */
  run(args: string[], context: OpsContext): Promise<void>;
}

/** The command cannot do what was asked; the message is for the operator. */
export class OpsError extends Error {}

/** The arguments are not those of the command; its usage is shown beside the message. */
export class UsageError extends Error {}
