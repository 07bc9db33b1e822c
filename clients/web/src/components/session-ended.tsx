import { Modal, Stack, Text } from '@mantine/core';
import { lastUser, queryClient, sessionEnded } from '../queries.ts';
import { t } from '../text.ts';
import { SignInForm } from './sign-in-form.tsx';

/** Asks a user whose session has ended to sign in again, over the page as it is. Another user starts from a fresh one. */
export function SessionEnded() {
  const ended = sessionEnded.use();
  if (!ended) return null;
  const goOn = async (isSameUser: boolean) => {
    if (!isSameUser) return window.location.assign('/');
    await queryClient.invalidateQueries();
  };
  return (
    <Modal opened onClose={() => undefined} withCloseButton={false} title={t.sign.ended} centered>
      <Stack gap="md">
        <Text>{t.sign.endedHint}</Text>
        <SignInForm email={lastUser.get()?.email} onDone={goOn} />
      </Stack>
    </Modal>
  );
}
