import { Alert, Stack } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { Address } from '../account/address.tsx';
import { DeleteAccount } from '../account/delete-account.tsx';
import { Password } from '../account/password.tsx';
import { Profile } from '../account/profile.tsx';
import { Sessions } from '../account/sessions.tsx';
import { SignInWays } from '../account/sign-in-ways.tsx';
import { TwoFactor } from '../account/two-factor.tsx';
import { PageHead } from '../components/page-head.tsx';
import { codeOf, t } from '../text.ts';

const route = getRouteApi('/o/$organization/$workspace/account');

/** What belongs to the user alone. */
export default function Account() {
  const { error } = route.useSearch();
  return (
    <>
      <PageHead title={t.nav.account} />
      {error && <Alert variant="default" role="alert" mb="lg" title={t.account.linkFailed(codeOf(error))} className="failure" />}
      <Stack gap="lg">
        <Profile />
        <Address />
        <Password />
        <TwoFactor />
        <SignInWays />
        <Sessions />
        <DeleteAccount />
      </Stack>
    </>
  );
}
