import { Alert, Button, Checkbox, Stack, TextInput } from '@mantine/core';
import { SheafError } from '@sheaf/client';
import { ask, auth } from '../service.ts';
import { t } from '../text.ts';
import { Failure } from './failure.tsx';
import { useFormTask } from './use-form-task.ts';

interface TwoFactorFormProps {
  onDone: () => Promise<void>;
  /** Leads to the beginning of the sign-in. */
  onAgain: () => void;
}

/** Asks for the second factor of a sign-in that has begun: six digits of an authenticator, or a backup code. */
export default function TwoFactorForm({ onDone, onAgain }: TwoFactorFormProps) {
  const { onSubmit, isPending, error } = useFormTask(async ({ code = '', trust }) => {
    const given = code.replaceAll(' ', '');
    const path = /^\d{6}$/.test(given) ? '/two-factor/verify-totp' : '/two-factor/verify-backup-code';
    await ask(auth.$fetch(path, { method: 'POST', body: { code: given, trustDevice: trust !== undefined } }));
    await onDone();
  });
  if (hasEnded(error))
    return (
      <>
        <Alert variant="default" role="alert">
          {t.twoFactor.ended}
        </Alert>
        <Button onClick={onAgain}>{t.sign.in}</Button>
      </>
    );
  return (
    <form onSubmit={onSubmit}>
      <Stack gap="md">
        <TextInput
          label={t.twoFactor.code}
          description={t.twoFactor.hint}
          name="code"
          required
          autoFocus
          autoComplete="one-time-code"
          maxLength={20}
        />
        <Checkbox name="trust" label={t.twoFactor.trust} />
        <Failure error={error} />
        <Button type="submit" loading={isPending}>
          {t.sign.in}
        </Button>
      </Stack>
    </form>
  );
}

/** Whether no code is taken any more, not even a right one. */
function hasEnded(error: unknown): boolean {
  return error instanceof SheafError && ['TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE', 'INVALID_TWO_FACTOR_COOKIE'].includes(error.code);
}
