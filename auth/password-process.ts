// A process: hashes and verifies the passwords that its parent sends, until the parent has gone (`password-hasher.ts`).
import { hashPassword, verifyPassword } from 'better-auth/crypto';
import type { PasswordAnswer, PasswordTask } from './password-hasher.ts';

process.on('message', async ({ id, password, hash }: PasswordTask) => {
  const work = hash === undefined ? hashPassword(password) : verifyPassword({ hash, password });
  const answer: PasswordAnswer = await work.then(
    (result) => ({ id, result }),
    // A hash that is none: whoever asked tries again, and sees the error.
    () => ({ id }),
  );
  process.send?.(answer);
});
process.on('disconnect', () => process.exit());
