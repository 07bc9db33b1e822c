import { Alert, Divider, Group } from '@mantine/core';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { CardPage } from '../parts/card-page.tsx';
import { LinkTo } from '../parts/link-to.tsx';
import { Providers } from '../parts/providers.tsx';
import { SignInForm } from '../parts/sign-in-form.tsx';
import { codeOf, t } from '../text.ts';

const route = getRouteApi('/sign-in');

export default function SignIn() {
  const { next, error, said } = route.useSearch();
  const navigate = useNavigate();
  return (
    <CardPage title={t.sign.inTitle}>
      {error && (
        <Alert variant="default" role="alert">
          {t.sign.linkFailed(codeOf(error))}
        </Alert>
      )}
      {said && (
        <Alert variant="default" role="status">
          {said === 'verified' ? t.sign.verified : t.reset.done}
        </Alert>
      )}
      <SignInForm next={next} onDone={() => navigate({ to: next ?? '/' })} />
      <Providers next={next} />
      <Divider />
      <Group justify="space-between" gap="xs">
        <LinkTo to="/sign-up" search={{ next }} size="sm">
          {t.sign.toUp}
        </LinkTo>
        <LinkTo to="/forgot-password" search={{ next }} size="sm">
          {t.sign.forgot}
        </LinkTo>
      </Group>
    </CardPage>
  );
}
