import { Alert, Button, Stack, TextInput } from '@mantine/core';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { CardPage } from '../components/card-page.tsx';
import { Failure } from '../components/failure.tsx';
import { LinkTo } from '../components/link-to.tsx';
import { PasswordField } from '../components/password-field.tsx';
import { Providers } from '../components/providers.tsx';
import { SendMail, verifiedPath } from '../components/sign-in-form.tsx';
import { useFormTask } from '../components/use-form-task.ts';
import { queryClient, sessionQuery } from '../queries.ts';
import { ask, auth } from '../service.ts';
import { t } from '../text.ts';

const route = getRouteApi('/sign-up');

export default function SignUp() {
  const { next } = route.useSearch();
  const navigate = useNavigate();
  const [unverified, setUnverified] = useState<string>();
  const { onSubmit, isPending, error } = useFormTask(async ({ name = '', email = '', password = '' }) => {
    const { token } = await ask(auth.signUp.email({ name, email, password, callbackURL: verifiedPath(next) }));
    // Without a session the address has to be confirmed first.
    if (token === null) return setUnverified(email);
    await queryClient.fetchQuery({ ...sessionQuery, staleTime: 0 });
    await navigate({ to: next ?? '/' });
  });
  if (unverified)
    return (
      <CardPage title={t.sign.upTitle}>
        <Alert variant="default" role="status">
          {t.sign.checkMail(unverified)}
        </Alert>
        <SendMail email={unverified} next={next} />
        <LinkTo to="/sign-in" search={{ next }}>
          {t.sign.in}
        </LinkTo>
      </CardPage>
    );
  return (
    <CardPage title={t.sign.upTitle}>
      <form onSubmit={onSubmit}>
        <Stack gap="md">
          <TextInput label={t.sign.name} name="name" required maxLength={120} autoComplete="name" />
          <TextInput label={t.sign.email} name="email" type="email" required autoComplete="username" />
          <PasswordField isNew />
          <Failure error={error} />
          <Button type="submit" loading={isPending}>
            {t.sign.up}
          </Button>
        </Stack>
      </form>
      <Providers next={next} />
      <LinkTo to="/sign-in" search={{ next }} size="sm">
        {t.sign.toIn}
      </LinkTo>
    </CardPage>
  );
}
