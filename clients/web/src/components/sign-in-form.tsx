import { Button, Stack, TextInput } from '@mantine/core';
import { SheafError } from '@sheaf/client';
import { useMutation } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { lastUser, queryClient, sessionEnded, sessionQuery } from '../queries.ts';
import { resume } from '../resume.ts';
import { ask, auth } from '../service.ts';
import { t } from '../text.ts';
import { Failure } from './failure.tsx';
import { PasswordField } from './password-field.tsx';
import { useFormTask } from './use-form-task.ts';

const TwoFactorForm = lazy(() => import('./two-factor-form.tsx'));

interface SignInFormProps {
  /** Filled in where it is known. */
  email?: string | undefined;
  /** Where to go on, for the mail that confirms the address. */
  next?: string | undefined;
  onDone: (isSameUser: boolean) => void | Promise<void>;
}

/** Signs in with address and password. */
export function SignInForm({ email, next, onDone }: SignInFormProps) {
  const [unverified, setUnverified] = useState<string>();
  const [asksCode, setAsksCode] = useState(false);
  const [choosesPassword, setChoosesPassword] = useState(false);
  const { onSubmit, isPending, error } = useFormTask(async ({ email = '', ...passwords }) => {
    const answer = await ask(auth.signIn.email({ email, password: '', ...passwords })).catch((failure: unknown) => {
      if (failure instanceof SheafError && failure.code === 'EMAIL_NOT_VERIFIED') setUnverified(email);
      if (failure instanceof SheafError && failure.code === 'PASSWORD_CHANGE_REQUIRED') setChoosesPassword(true);
      throw failure;
    });
    if ('twoFactorRedirect' in answer) return setAsksCode(true);
    await goOn();
  });
  const goOn = async () => {
    await onDone(await beginSession());
  };
  if (asksCode)
    return (
      <Suspense>
        <TwoFactorForm onDone={goOn} onAgain={() => setAsksCode(false)} />
      </Suspense>
    );
  return (
    <form onSubmit={onSubmit}>
      <Stack gap="md">
        <TextInput label={t.sign.email} name="email" type="email" required autoComplete="username" defaultValue={email} />
        <PasswordField />
        {choosesPassword && <PasswordField isNew name="newPassword" label={t.reset.password} />}
        <Failure error={error} />
        {unverified && <SendMail email={unverified} next={next} />}
        <Button type="submit" loading={isPending}>
          {t.sign.in}
        </Button>
      </Stack>
    </form>
  );
}

/** Reads the session that a sign-in has begun. Returns whether it is one of the user who was signed in before. */
export async function beginSession(): Promise<boolean> {
  const before = lastUser.get();
  const session = await queryClient.fetchQuery({ ...sessionQuery, staleTime: 0 });
  sessionEnded.set(false);
  const isSameUser = session?.user.id === before?.id;
  if (isSameUser) resume();
  return isSameUser;
}

/** Where the mail that confirms an address leads: to sign in, and on to a path of this console, such as that of an invitation. */
export function verifiedPath(next: string | undefined): string {
  return `/sign-in?${new URLSearchParams({ said: 'verified', ...(next ? { next } : {}) })}`;
}

/** Sends the mail that confirms an address, once more unless it is the first. */
export function SendMail({ email, next, isFirst = false }: { email: string; next?: string | undefined; isFirst?: boolean }) {
  const { mutate, isPending, isSuccess, error } = useMutation({
    mutationFn: () => ask(auth.sendVerificationEmail({ email, callbackURL: verifiedPath(next) })),
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
