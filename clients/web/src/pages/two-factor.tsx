import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { CardPage } from '../components/card-page.tsx';
import { beginSession } from '../components/sign-in-form.tsx';
import TwoFactorForm from '../components/two-factor-form.tsx';
import { t } from '../text.ts';

const route = getRouteApi('/two-factor');

/** Where a sign-in by a provider leads whose user has a second factor. */
export default function TwoFactor() {
  const { callbackURL } = route.useSearch();
  const navigate = useNavigate();
  const goOn = async () => {
    await beginSession();
    await navigate({ to: callbackURL ?? '/' });
  };
  return (
    <CardPage title={t.twoFactor.title}>
      <TwoFactorForm onDone={goOn} onAgain={() => void navigate({ to: '/sign-in', search: { next: callbackURL } })} />
    </CardPage>
  );
}
