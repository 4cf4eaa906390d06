# The entities of shop-bus, written by minibus export.
# Add a provider block, and create the resource group shop first.
# Azure makes each subscription with the rule $Default, which takes everything. Let the provider (4.81 or later)
# delete it. Otherwise, the subscriptions get more messages than those that they are copied from:
#   provider "azurerm" {
#     features {
#       servicebus { auto_delete_subscription_default_rule = true }
#     }
#   }
terraform {
  required_providers {
    azurerm = {
      source  = "hashicorp/azurerm"
      version = "~> 4.0"
    }
  }
}

data "azurerm_resource_group" "group" {
  name = "shop"
}

resource "azurerm_servicebus_namespace" "namespace" {
  name                         = "shop-bus"
  resource_group_name          = data.azurerm_resource_group.group.name
  location                     = "westeurope"
  sku                          = "Premium"
  capacity                     = 2
  premium_messaging_partitions = 1
  local_auth_enabled           = false

  tags = {
    "cost center" = "a'b"
    "env"         = "dev"
  }

  identity {
    type         = "SystemAssigned, UserAssigned"
    identity_ids = ["/subscriptions/s/me"]
  }
}

resource "azurerm_servicebus_topic" "events" {
  name                         = "events"
  namespace_id                 = azurerm_servicebus_namespace.namespace.id
  default_message_ttl          = "P10675199DT2H48M5.4775807S"
  support_ordering             = true
  batched_operations_enabled   = true
  requires_duplicate_detection = false
  partitioning_enabled         = false
  max_size_in_megabytes        = 1024
}

resource "azurerm_servicebus_queue" "orders" {
  name                                 = "orders"
  namespace_id                         = azurerm_servicebus_namespace.namespace.id
  lock_duration                        = "PT30S"
  max_delivery_count                   = 3
  default_message_ttl                  = "P10675199DT2H48M5.4775807S"
  dead_lettering_on_message_expiration = false
  requires_session                     = true
  batched_operations_enabled           = true
  requires_duplicate_detection         = false
  partitioning_enabled                 = false
  max_size_in_megabytes                = 1024
}

resource "azurerm_servicebus_queue" "a_b" {
  name                                 = "a~b"
  namespace_id                         = azurerm_servicebus_namespace.namespace.id
  lock_duration                        = "PT1M"
  max_delivery_count                   = 10
  default_message_ttl                  = "P10675199DT2H48M5.4775807S"
  dead_lettering_on_message_expiration = false
  requires_session                     = false
  batched_operations_enabled           = true
  requires_duplicate_detection         = false
  partitioning_enabled                 = false
  max_size_in_megabytes                = 1024
  forward_to                           = azurerm_servicebus_queue.orders.name
}

resource "azurerm_servicebus_subscription" "events_all" {
  name                                      = "all"
  topic_id                                  = azurerm_servicebus_topic.events.id
  lock_duration                             = "PT1M"
  max_delivery_count                        = 10
  default_message_ttl                       = "P10675199DT2H48M5.4775807S"
  dead_lettering_on_message_expiration      = false
  requires_session                          = false
  batched_operations_enabled                = true
  dead_lettering_on_filter_evaluation_error = true
}

# the rule is named Default here: Terraform can't create $Default
resource "azurerm_servicebus_subscription_rule" "events_all_Default" {
  name            = "Default"
  subscription_id = azurerm_servicebus_subscription.events_all.id
  filter_type     = "SqlFilter"
  sql_filter      = "1=1"
}

resource "azurerm_servicebus_subscription" "events_eu" {
  name                                      = "eu"
  topic_id                                  = azurerm_servicebus_topic.events.id
  lock_duration                             = "PT1M"
  max_delivery_count                        = 10
  default_message_ttl                       = "P10675199DT2H48M5.4775807S"
  dead_lettering_on_message_expiration      = false
  requires_session                          = false
  batched_operations_enabled                = true
  dead_lettering_on_filter_evaluation_error = true
}

resource "azurerm_servicebus_subscription_rule" "events_eu_region" {
  name            = "region"
  subscription_id = azurerm_servicebus_subscription.events_eu.id
  filter_type     = "CorrelationFilter"

  correlation_filter {
    label = "order"
  }
}

resource "azurerm_servicebus_subscription" "events_large" {
  name                                      = "large"
  topic_id                                  = azurerm_servicebus_topic.events.id
  lock_duration                             = "PT1M"
  max_delivery_count                        = 10
  default_message_ttl                       = "P10675199DT2H48M5.4775807S"
  dead_lettering_on_message_expiration      = false
  requires_session                          = false
  batched_operations_enabled                = true
  dead_lettering_on_filter_evaluation_error = true
}

resource "azurerm_servicebus_subscription_rule" "events_large_amount" {
  name            = "amount"
  subscription_id = azurerm_servicebus_subscription.events_large.id
  filter_type     = "SqlFilter"
  sql_filter      = "amount > 1000 AND owner = 'it''s $me'"
  action          = "SET a = 1"
}

resource "azurerm_servicebus_namespace_authorization_rule" "app" {
  name         = "app"
  namespace_id = azurerm_servicebus_namespace.namespace.id
  listen       = false
  send         = true
  manage       = false
}

resource "azurerm_role_assignment" "role_a0000000_0000_4000_8000_00000000000a" {
  name                 = "a0000000-0000-4000-8000-00000000000a"
  scope                = azurerm_servicebus_namespace.namespace.id
  role_definition_name = "Azure Service Bus Data Sender"
  principal_id         = "aaaaaaaa-0000-4000-8000-000000000001"
  principal_type       = "ServicePrincipal"
}

resource "azurerm_role_assignment" "role_b0000000_0000_4000_8000_00000000000b" {
  name                 = "b0000000-0000-4000-8000-00000000000b"
  scope                = azurerm_servicebus_queue.a_b.id
  role_definition_name = "Azure Service Bus Data Sender"
  principal_id         = "aaaaaaaa-0000-4000-8000-000000000001"
  principal_type       = "ServicePrincipal"
}

resource "azurerm_role_assignment" "role_c0000000_0000_4000_8000_00000000000c" {
  name               = "c0000000-0000-4000-8000-00000000000c"
  scope              = azurerm_servicebus_subscription.events_eu.id
  role_definition_id = "/subscriptions/s/providers/Microsoft.Authorization/roleDefinitions/e0000000-0000-4000-8000-00000000000e"
  principal_id       = "aaaaaaaa-0000-4000-8000-000000000001"
  principal_type     = "ServicePrincipal"
}
