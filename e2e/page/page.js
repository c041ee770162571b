// What a page of an application imports. Tests call it from outside.
import { ApiKeyStamper } from '@turnkey/api-key-stamper';
import { TurnkeyClient as CoreClient } from '@turnkey/core';
import { getWebAuthnAttestation, TurnkeyClient } from '@turnkey/http';
import { IframeStamper } from '@turnkey/iframe-stamper';
import { IndexedDbStamper } from '@turnkey/indexed-db-stamper';
import { WebauthnStamper } from '@turnkey/webauthn-stamper';

Object.assign(window, { ApiKeyStamper, CoreClient, getWebAuthnAttestation, IframeStamper, IndexedDbStamper, TurnkeyClient, WebauthnStamper });
