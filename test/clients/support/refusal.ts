import { SheafError } from '../../../clients/typescript/index.ts';

/** The error that a call ends with. */
export async function refusal(call: Promise<unknown>): Promise<SheafError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof SheafError) return error;
    throw error;
  }
  throw new Error('the call was not refused');
}
