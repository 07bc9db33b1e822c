import { Button, Stack, TextInput } from '@mantine/core';
import { SheafError } from '@sheaf/client';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { queryClient, sessionEnded, sessionQuery } from '../queries.ts';
import { ask, auth } from '../service.ts';
import { t } from '../text.ts';
import { Failure } from './failure.tsx';
import { PasswordField } from './password-field.tsx';
import { TwoFactorForm } from './two-factor-form.tsx';
import { useFormTask } from './use-form-task.ts';

/** Signs in with address and password. `email` is filled in where it is known. */
export function SignInForm({ email, onDone }: { email?: string | undefined; onDone: () => void | Promise<void> }) {
  const [unverified, setUnverified] = useState<string>();
  const [asksCode, setAsksCode] = useState(false);
  const { onSubmit, isPending, error } = useFormTask(async ({ email = '', password = '' }) => {
    const answer = await ask(auth.signIn.email({ email, password })).catch((failure: unknown) => {
      if (failure instanceof SheafError && failure.code === 'EMAIL_NOT_VERIFIED') setUnverified(email);
      throw failure;
    });
    if ('twoFactorRedirect' in answer) return setAsksCode(true);
    await goOn();
  });
  const goOn = async () => {
    await beginSession();
    await onDone();
  };
  if (asksCode) return <TwoFactorForm onDone={goOn} />;
  return (
    <form onSubmit={onSubmit}>
      <Stack gap="md">
        <TextInput label={t.sign.email} name="email" type="email" required autoComplete="username" defaultValue={email} />
        <PasswordField />
        <Failure error={error} />
        {unverified && <SendMail email={unverified} />}
        <Button type="submit" loading={isPending}>
          {t.sign.in}
        </Button>
      </Stack>
    </form>
  );
}

/** Reads the session that a sign-in has begun. */
export async function beginSession(): Promise<void> {
  await queryClient.fetchQuery({ ...sessionQuery, staleTime: 0 });
  sessionEnded.set(false);
}

/** Sends the mail that confirms an address, once more unless it is the first. */
export function SendMail({ email, isFirst = false }: { email: string; isFirst?: boolean }) {
  const callbackURL = '/sign-in?said=verified';
  const { mutate, isPending, isSuccess, error } = useMutation({
    mutationFn: () => ask(auth.sendVerificationEmail({ email, callbackURL })),
  });
  const send = isFirst ? t.reset.ask : t.sign.sendAgain;
  return (
    <>
      <Failure error={error} />
      <Button variant="default" loading={isPending} disabled={isSuccess} onClick={() => mutate()}>
        {isSuccess ? t.sign.sent : send}
      </Button>
    </>
  );
}
