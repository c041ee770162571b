package api

import (
	"strings"

	"latchkey/internal/fault"
)

// Why a path of the published clients is not served.
const (
	needsChain   = "chain"   // it needs a service on a chain: sending, balances, swaps
	needsEnclave = "enclave" // it is about proofs of an enclave, or programs in one
	needsBilling = "billing" // it is about an account at the hosted service
)

// Unserved lists the paths that published clients have a call for and this server
// has not, by their last part, each with the reason. docs/compatibility.md says
// the same of a run of the clients; a test compares the two.
func Unserved() map[string]string {
	return map[string]string{
		"claim_earn_fees":                         needsChain,
		"claim_swap_fees":                         needsChain,
		"create_fiat_on_ramp_credential":          needsChain,
		"create_swap_quote":                       needsChain,
		"delete_fiat_on_ramp_credential":          needsChain,
		"earn_claim_rewards":                      needsChain,
		"earn_deploy_wrapper":                     needsChain,
		"earn_deposit":                            needsChain,
		"earn_set_wrapper_state":                  needsChain,
		"earn_withdraw":                           needsChain,
		"eth_send_raw_transaction":                needsChain,
		"eth_send_transaction":                    needsChain,
		"eth_undelegate_7702":                     needsChain,
		"execute_swap":                            needsChain,
		"get_claim_earn_fees_status":              needsChain,
		"get_earn_claim_rewards_status":           needsChain,
		"get_earn_deploy_status":                  needsChain,
		"get_earn_deposit_status":                 needsChain,
		"get_earn_withdraw_status":                needsChain,
		"get_nonces":                              needsChain,
		"get_onramp_transaction_status":           needsChain,
		"get_send_transaction_status":             needsChain,
		"get_swap_status":                         needsChain,
		"get_wallet_address_balances":             needsChain,
		"init_fiat_on_ramp":                       needsChain,
		"list_earn_enabled_vaults":                needsChain,
		"list_earn_positions":                     needsChain,
		"list_earn_rewards":                       needsChain,
		"list_earn_vaults":                        needsChain,
		"list_eth_transaction_history":            needsChain,
		"list_fiat_on_ramp_credentials":           needsChain,
		"list_sol_transaction_history":            needsChain,
		"list_supported_assets":                   needsChain,
		"sol_send_transaction":                    needsChain,
		"spark_claim_transfer":                    needsChain,
		"spark_prepare_lightning_receive":         needsChain,
		"spark_prepare_transfer":                  needsChain,
		"spark_sign_frost":                        needsChain,
		"update_fiat_on_ramp_credential":          needsChain,
		"upsert_swap_config":                      needsChain,
		"create_tvc_app":                          needsEnclave,
		"create_tvc_deployment":                   needsEnclave,
		"create_tvc_manifest_approvals":           needsEnclave,
		"create_tvc_operator":                     needsEnclave,
		"create_tvc_quorum_key":                   needsEnclave,
		"delete_tvc_app_and_deployments":          needsEnclave,
		"delete_tvc_deployment":                   needsEnclave,
		"get_app_status":                          needsEnclave,
		"get_boot_proof":                          needsEnclave,
		"get_latest_boot_proof":                   needsEnclave,
		"get_tvc_app":                             needsEnclave,
		"get_tvc_deployment":                      needsEnclave,
		"get_tvc_deployment_debug_logs":           needsEnclave,
		"get_tvc_deployment_provisioning_details": needsEnclave,
		"get_tvc_qos_versions":                    needsEnclave,
		"list_app_proofs":                         needsEnclave,
		"list_tvc_app_deployments":                needsEnclave,
		"list_tvc_apps":                           needsEnclave,
		"list_tvc_operators":                      needsEnclave,
		"list_tvc_quorum_keys":                    needsEnclave,
		"post_tvc_quorum_key_share":               needsEnclave,
		"re_encrypt_tvc_quorum_key_share":         needsEnclave,
		"restore_tvc_deployment":                  needsEnclave,
		"set_tvc_app_live_deployment":             needsEnclave,
		"validate_tvc_image":                      needsEnclave,
		"get_gas_usage":                           needsBilling,
	}
}

// errorInfo is a detail of a refusal, google.rpc.ErrorInfo.
type errorInfo struct {
	Type   string `json:"@type"`
	Reason string `json:"reason"`
	Domain string `json:"domain"`
}

// notServed refuses a path that clients know and this server has not; nil: it is
// no such path.
func (s *Server) notServed(path string) error {
	name, ok := strings.CutPrefix(path, submitPrefix)
	if !ok {
		name, ok = strings.CutPrefix(path, queryPrefix)
	}
	reason, known := s.unserved[name]
	if !ok || !known {
		return nil
	}
	return fault.Missing("Latchkey does not serve %s; see docs/differences.md", name).
		With(errorInfo{Type: "type.googleapis.com/google.rpc.ErrorInfo", Reason: reason, Domain: "latchkey"})
}
