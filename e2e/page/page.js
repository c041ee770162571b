// What a page of an application imports. Tests call it from outside.
import { ApiKeyStamper } from '@turnkey/api-key-stamper';
import { TurnkeyClient as CoreClient } from '@turnkey/core';
import { getWebAuthnAttestation, TurnkeyClient } from '@turnkey/http';
import { IframeStamper } from '@turnkey/iframe-stamper';
import { IndexedDbStamper } from '@turnkey/indexed-db-stamper';
import { Turnkey as BrowserSDK } from '@turnkey/sdk-browser';
import { WebauthnStamper } from '@turnkey/webauthn-stamper';

import { installWallet } from '../kit/wallet.js';

Object.assign(window, { ApiKeyStamper, BrowserSDK, CoreClient, getWebAuthnAttestation, IframeStamper, IndexedDbStamper, installWallet, TurnkeyClient, WebauthnStamper });
