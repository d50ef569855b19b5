"""Host names, mutual TLS, the private API and the functions' own network: only where asked for, and then whole."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from adapter.doors import answers
from adapter.doors.http import BATCH_PATH, EVENT_PATHS, HEALTH_PATHS
from tests.unit.template.deployed import TEMPLATE, broken, given
from tools.variants import HOST, JWT, MUTUAL_TLS, OPEN, PRIVATE, VPC

ANY = "x-amazon-apigateway-any-method"


def properties(name: str, **parameters: str) -> Any:  # noqa: ANN401 - a resource's properties are any JSON
    return given(**parameters)[name]["Properties"]


def new(**parameters: str) -> set[str]:
    """Name what `parameters` add to a deployment, without SAM's numbered deployments."""
    return {re.sub(r"(Deployment)\w+", r"\1", name) for name in given(**parameters).keys() - given().keys()}


# ---- A host name ----


def test_a_host_name_leads_to_the_api_without_a_path() -> None:
    """Emitters lose a path; so the mapping has no key."""
    mapping = properties("HostMapping", **HOST)
    assert mapping == {"DomainName": {"Ref": "Host"}, "ApiId": {"Ref": "HttpApi"}, "Stage": mapping["Stage"]}
    assert given(**HOST)[mapping["Stage"]["Ref"]]["Properties"]["StageName"] == "$default"
    (configuration,) = properties("Host", **HOST)["DomainNameConfigurations"]
    assert configuration["SecurityPolicy"] == "TLS_1_2"
    assert configuration["CertificateArn"] == {"Ref": "HostCertificateArn"}


def test_a_record_is_made_in_the_zone_that_is_given_and_in_none_otherwise() -> None:
    assert new(**HOST) == {"Host", "HostMapping", "HostRecord"}
    assert new(**{**HOST, "HostZoneId": ""}) == {"Host", "HostMapping"}
    target = properties("HostRecord", **HOST)["AliasTarget"]
    assert target["DNSName"] == {"Fn::GetAtt": ["Host", "RegionalDomainName"]}


def test_mutual_tls_leaves_no_way_around_it() -> None:
    """The name that AWS gives the API asks for no certificate: it is turned off then, and only then."""
    for parameters, asked in ((HOST, False), (MUTUAL_TLS, True)):
        (server,) = properties("HttpApi", **parameters)["Body"]["servers"]
        assert server["x-amazon-apigateway-endpoint-configuration"] == {"disableExecuteApiEndpoint": asked}
        assert ("MutualTlsAuthentication" in properties("Host", **parameters)) is asked
    assert properties("Host", **MUTUAL_TLS)["MutualTlsAuthentication"] == {"TruststoreUri": {"Ref": "TruststoreUri"}}


def test_the_public_door_can_be_closed_beside_a_private_one() -> None:
    (server,) = properties("HttpApi", **PRIVATE, PublicEndpoint="disabled")["Body"]["servers"]
    assert server["x-amazon-apigateway-endpoint-configuration"] == {"disableExecuteApiEndpoint": True}


@pytest.mark.parametrize("without", ["HostName", "HostCertificateArn"])
def test_a_host_name_is_given_whole_or_refused(without: str) -> None:
    assert broken(**MUTUAL_TLS) == []
    assert broken(**{**HOST, without: ""}) == ["HostIsComplete"]
    assert broken(TruststoreUri="s3://truststore/lineage.pem") == ["HostIsComplete"]


# ---- The private API ----


def private(**parameters: str) -> Any:  # noqa: ANN401 - OpenAPI is any JSON
    return properties("PrivateApi", **PRIVATE, **parameters)["Body"]


def test_the_private_api_stands_beside_the_public_one() -> None:
    api = {"PrivateApi", "PrivateApiDeployment", "PrivateApiapiStage", "PrivateApiPermission"}
    assert new(**PRIVATE) == api | {"PrivateAuthorizerPermission"}
    assert "HttpApi" in given(**PRIVATE)


def test_it_takes_calls_through_the_given_endpoints_and_no_others() -> None:
    endpoints = {"Fn::Split": [",", {"Ref": "VpcEndpointIds"}]}
    assert properties("PrivateApi", **PRIVATE)["EndpointConfiguration"] == {
        "Types": ["PRIVATE"],
        "VpcEndpointIds": endpoints,
    }
    allowed, denied = private()["x-amazon-apigateway-policy"]["Statement"]
    everything = {"Principal": "*", "Action": "execute-api:Invoke", "Resource": "execute-api:/*"}
    assert allowed == {"Effect": "Allow"} | everything
    not_through = {"StringNotEquals": {"aws:SourceVpce": endpoints}}
    assert denied == {"Effect": "Deny", "Condition": not_through} | everything


def test_an_emitters_paths_begin_with_the_stage_so_its_url_needs_no_path() -> None:
    """Clients add api/v1/lineage to a host. A URL that ends in a slash, or /lineage, finds no stage here."""
    stage = given(**PRIVATE)["PrivateApiapiStage"]["Properties"]["StageName"]
    taken = [path for path in (*EVENT_PATHS, BATCH_PATH, *HEALTH_PATHS) if path.startswith(f"/{stage}/")]
    assert taken == ["/api/v1/lineage", "/api/v1/lineage/batch", "/api/health"]


def test_every_path_leads_to_the_http_function_and_gzip_survives_the_way() -> None:
    assert set(private()["paths"]) == {"/", "/{proxy+}", "/health"}
    for methods in private()["paths"].values():
        for route in methods.values():
            integration = route["x-amazon-apigateway-integration"]
            assert (integration["type"], integration["httpMethod"]) == ("aws_proxy", "POST")
            assert "${HttpFunction.Arn}" in integration["uri"]["Fn::Sub"]
    assert private()["x-amazon-apigateway-binary-media-types"] == ["*/*"]


def test_the_private_api_asks_for_tokens_as_the_public_one_does() -> None:
    routes = {(path, method): route for path, ways in private().get("paths").items() for method, route in ways.items()}
    asking = {key for key, route in routes.items() if route.get("security") == [{"tokens": []}]}
    assert asking == {("/", ANY), ("/{proxy+}", ANY)} == routes.keys() - {("/health", "get")}
    authorizer = private()["components"]["securitySchemes"]["tokens"]["x-amazon-apigateway-authorizer"]
    assert (authorizer["type"], authorizer["identitySource"]) == ("request", "method.request.header.Authorization")
    assert authorizer["authorizerResultTtlInSeconds"] == {"Ref": "AuthorizerCacheSeconds"}
    assert "${AuthorizerFunction.Arn}" in authorizer["authorizerUri"]["Fn::Sub"]


def test_an_open_private_api_asks_nobody() -> None:
    assert private(**OPEN)["components"]["securitySchemes"] == {}
    assert "PrivateAuthorizerPermission" not in given(**PRIVATE, **OPEN)


def test_a_private_api_with_jwt_is_refused_since_rest_has_no_such_authorizer() -> None:
    assert broken(**PRIVATE) == []
    assert broken(**PRIVATE, **JWT) == ["PrivateApiKnowsNoJwt"]


def test_a_change_of_a_parameter_is_deployed() -> None:
    """SAM tells deployments apart by the template's text, in which the value of Access is not; the stage would stay."""
    deployment = next(name for name in given(**PRIVATE) if name.startswith("PrivateApiDeployment"))
    assert re.fullmatch(r"PrivateApiDeployment[0-9a-f]{10}", deployment)
    assert TEMPLATE["Resources"]["PrivateApi"]["Properties"]["AlwaysDeploy"] is True


def test_what_the_gateway_itself_answers_is_json_and_sent_again_where_that_helps() -> None:
    """429, 500 and 504 would each cost an event with one of the clients; 503 with Retry-After does not."""
    responses = private()["x-amazon-apigateway-gateway-responses"]
    later = answers.unavailable()
    for kind in ("DEFAULT_5XX", "THROTTLED", "QUOTA_EXCEEDED"):
        assert responses[kind]["statusCode"] == later["statusCode"]
        assert responses[kind]["responseParameters"] == {
            "gatewayresponse.header.Retry-After": f"'{later['headers']['Retry-After']}'"
        }
        body = json.loads(responses[kind]["responseTemplates"]["application/json"])
        assert body == json.loads(later["body"])
    refused = responses["DEFAULT_4XX"]
    assert "statusCode" not in refused
    assert refused["responseTemplates"] == {"application/json": '{"message":$context.error.messageString}'}


def test_the_private_api_logs_and_throttles_as_the_public_one_does() -> None:
    stage = given(**PRIVATE)["PrivateApiapiStage"]["Properties"]
    logged = json.loads(stage["AccessLogSetting"]["Format"])
    public = json.loads(
        properties("HttpApiApiGatewayDefaultStage", **PRIVATE)["AccessLogSettings"]["Format"],
    )
    assert set(logged) <= set(public)
    for variable in logged.values():
        assert not re.search(r"header|authorizer|\.path|query|body|userAgent|identity\.(?!sourceIp)", variable)
    (settings,) = stage["MethodSettings"]
    assert (settings["HttpMethod"], settings["ResourcePath"]) == ("*", "/*")
    assert settings["ThrottlingRateLimit"] == {"Ref": "ThrottleRate"}
    assert settings["DataTraceEnabled"] is False


# ---- The functions' own network ----


def functions(**parameters: str) -> list[dict[str, Any]]:
    resources = given(EnableStream="true", **parameters).values()
    return [one["Properties"] for one in resources if one["Type"] == "AWS::Lambda::Function"]


def test_every_function_runs_in_the_given_subnets_or_in_none() -> None:
    inside = {
        "SubnetIds": {"Fn::Split": [",", {"Ref": "SubnetIds"}]},
        "SecurityGroupIds": {"Fn::Split": [",", {"Ref": "SecurityGroupIds"}]},
    }
    assert [one["VpcConfig"] for one in functions(**VPC)] == [inside] * len(functions(**VPC))
    assert not any("VpcConfig" in one for one in functions())


def test_lambda_joins_a_function_to_its_subnets_and_the_function_cannot() -> None:
    """IAM knows no narrower resource; what is granted to Lambda is denied to the function's own code."""
    resources = given(EnableStream="true", **VPC)
    roles = [one["Properties"] for one in resources.values() if one["Type"] == "AWS::IAM::Role"]
    assert all({"Ref": "NetworkPolicy"} in role["ManagedPolicyArns"] for role in roles)
    allowed, denied = resources["NetworkPolicy"]["Properties"]["PolicyDocument"]["Statement"]
    assert (allowed["Effect"], denied["Effect"]) == ("Allow", "Deny")
    assert allowed["Action"] == denied["Action"]
    assert denied["Condition"] == {"Null": {"lambda:SourceFunctionArn": "false"}}
    assert "NetworkPolicy" not in given()


@pytest.mark.parametrize("without", ["SubnetIds", "SecurityGroupIds"])
def test_subnets_and_security_groups_are_given_together(without: str) -> None:
    assert broken(**VPC) == []
    assert broken(**{**VPC, without: ""}) == ["NetworkIsComplete"]
