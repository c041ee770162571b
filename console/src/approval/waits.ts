// What is still to be decided: by votes, or by a further factor of a user.
import { type AuthenticationMethod, type View } from '../client/models';

export const waitingStatuses: Array<View['status']> = ['ACTIVITY_STATUS_CONSENSUS_NEEDED', 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED'];

export const waits = (a: View): boolean => waitingStatuses.includes(a.status);

// needsFactor: a multi-factor policy asks for more than the stamp that was given.
export const needsFactor = (a: View): boolean => a.status === 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED';

// A code that is sent to a contact of the user is such a factor.
export type CodeKind = Extract<AuthenticationMethod['type'], `${string}_OTP`>;

export const codeKinds: CodeKind[] = ['AUTHENTICATION_TYPE_EMAIL_OTP', 'AUTHENTICATION_TYPE_SMS_OTP'];
