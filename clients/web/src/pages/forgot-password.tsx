import { Alert, Button, Stack, Text, TextInput } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { CardPage } from '../components/card-page.tsx';
import { Failure } from '../components/failure.tsx';
import { LinkTo } from '../components/link-to.tsx';
import { useFormTask } from '../components/use-form-task.ts';
import { ask, auth } from '../service.ts';
import { t } from '../text.ts';

const route = getRouteApi('/forgot-password');

export default function ForgotPassword() {
  const { next } = route.useSearch();
  const [asked, setAsked] = useState<string>();
  const { onSubmit, isPending, error } = useFormTask(async ({ email = '' }) => {
    await ask(auth.requestPasswordReset({ email, redirectTo: `/reset-password${next ? `?${new URLSearchParams({ next })}` : ''}` }));
    setAsked(email);
  });
  return (
    <CardPage title={t.reset.askTitle}>
      {asked ? (
        <Alert variant="default" role="status">
          {t.reset.asked(asked)}
        </Alert>
      ) : (
        <form onSubmit={onSubmit}>
          <Stack gap="md">
            <Text>{t.reset.askHint}</Text>
            <TextInput label={t.sign.email} name="email" type="email" required autoComplete="username" />
            <Failure error={error} />
            <Button type="submit" loading={isPending}>
              {t.reset.ask}
            </Button>
          </Stack>
        </form>
      )}
      <LinkTo to="/sign-in" search={{ next }} size="sm">
        {t.sign.in}
      </LinkTo>
    </CardPage>
  );
}
