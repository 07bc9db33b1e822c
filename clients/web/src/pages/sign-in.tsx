import { Alert, Divider, Group } from '@mantine/core';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { CardPage } from '../components/card-page.tsx';
import { LinkTo } from '../components/link-to.tsx';
import { Providers } from '../components/providers.tsx';
import { SignInForm } from '../components/sign-in-form.tsx';
import { codeOf, t } from '../text.ts';

const route = getRouteApi('/sign-in');

/** Codes of providers are lower case, and those of links in mails are not. Who is banned is told so at the end of a sign-in by a provider. */
function failureOf(code: string): string {
  if (code === 'account_not_linked') return t.sign.notLinked;
  return /^[a-z]/.test(code) || code === 'BANNED_USER' ? t.sign.providerFailed(code) : t.sign.linkFailed(code);
}

export default function SignIn() {
  const { next, error, said } = route.useSearch();
  const navigate = useNavigate();
  return (
    <CardPage title={t.sign.in}>
      {error && (
        <Alert variant="default" role="alert">
          {failureOf(codeOf(error))}
        </Alert>
      )}
      {said && !error && (
        <Alert variant="default" role="status">
          {{ verified: t.sign.verified, reset: t.reset.done, email: t.account.linkWorked, deleted: t.account.deleted }[said]}
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
