import { Alert, Button, Stack } from '@mantine/core';
import { SheafError } from '@sheaf/client';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { CardPage } from '../components/card-page.tsx';
import { Failure } from '../components/failure.tsx';
import { LinkTo } from '../components/link-to.tsx';
import { PasswordField } from '../components/password-field.tsx';
import { useFormTask } from '../components/use-form-task.ts';
import { queryClient } from '../queries.ts';
import { ask, auth } from '../service.ts';
import { t } from '../text.ts';

const route = getRouteApi('/reset-password');

/** Where the mail leads. The token is used once. */
export default function ResetPassword() {
  const { token, next, error: refused } = route.useSearch();
  const navigate = useNavigate();
  const { onSubmit, isPending, error } = useFormTask(async ({ password = '' }) => {
    await ask(auth.resetPassword({ newPassword: password, token }));
    // Every session has ended, that of this browser too.
    queryClient.clear();
    await navigate({ to: '/sign-in', search: { said: 'reset', next } });
  });
  return (
    <CardPage title={t.reset.setTitle}>
      {refused || !token || isRefused(error) ? (
        <>
          <Alert variant="default" role="alert">
            {t.reset.lost}
          </Alert>
          <LinkTo to="/forgot-password" search={{ next }}>
            {t.reset.askTitle}
          </LinkTo>
        </>
      ) : (
        <form onSubmit={onSubmit}>
          <Stack gap="md">
            <PasswordField isNew label={t.reset.password} />
            <Failure error={error} />
            <Button type="submit" loading={isPending}>
              {t.reset.set}
            </Button>
          </Stack>
        </form>
      )}
    </CardPage>
  );
}

/** Whether the token is used, too old, or none. */
const isRefused = (error: unknown) => error instanceof SheafError && error.code === 'INVALID_TOKEN';
